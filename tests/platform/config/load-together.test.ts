import { describe, expect, test } from "bun:test";
import { loadTogether } from "../../../lib/platform/config/load-together.ts";
import { OpsError } from "../../../lib/platform/errors.ts";

const invalid = (hint: string, ...lines: string[]) =>
  new OpsError({ code: "CONFIG_INVALID", message: ["Cannot start: some", ...lines].join("\n"), hint });
const exposed = new OpsError({ code: "SECRET_FILE_EXPOSED", message: "Cannot read it" });
const failing = (error: unknown) => Promise.reject(error);

describe("loadTogether()", () => {
  test("returns what the first loads once all are loaded", async () => {
    expect(await loadTogether(Promise.resolve(1), [Promise.resolve(2)])).toBe(1);
    await expect(loadTogether(Promise.resolve(1), [failing(exposed)])).rejects.toBe(exposed);
  });

  test("makes one error of all that is missing, each line and each advice once", async () => {
    const own = failing(invalid("first", "  A: is missing", "  B: is missing"));
    const others = [
      failing(invalid("second", "  C: is missing")),
      failing(invalid("third", "  B: is missing")),
    ];
    await expect(loadTogether(own, others)).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message:
        "Cannot start: 3 settings are missing or invalid\n  A: is missing\n  B: is missing\n  C: is missing",
      hint: "first\nsecond\nthird",
    });
  });

  test("lists the settings of all, each problem once, and none where one error has no list", async () => {
    const listing = (...names: string[]) =>
      new OpsError({
        ...{ code: "CONFIG_INVALID", message: "Cannot start: some" },
        settings: names.map((name) => ({ name, problem: "is missing", kind: "plain" })),
      });
    const settingsOf = (...errors: OpsError[]) =>
      loadTogether(failing(errors[0]), errors.slice(1).map(failing)).catch(({ settings }) => settings);
    const all = await settingsOf(listing("A", "B"), listing("B", "C"));
    expect(all.map(({ name }: { name: string }) => name)).toEqual(["A", "B", "C"]);
    expect(await settingsOf(listing("A"), invalid("x", "  B: is missing"))).toBeUndefined();
  });

  test("throws a single error as it is, and one of another kind only where no setting is missing", async () => {
    const missing = invalid("only", "  A: is missing");
    await expect(loadTogether(Promise.resolve(1), [failing(missing)])).rejects.toBe(missing);
    await expect(loadTogether(failing(exposed), [failing(missing)])).rejects.toBe(missing);
  });
});
