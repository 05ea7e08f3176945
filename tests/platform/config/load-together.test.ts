import { describe, expect, test } from "bun:test";
import { loadTogether } from "../../../lib/platform/config/load-together.ts";
import { OpsError, type SettingProblem } from "../../../lib/platform/errors.ts";

const invalid = (hint: string, ...lines: string[]) =>
  new OpsError({ code: "CONFIG_INVALID", message: ["Cannot start: some", ...lines].join("\n"), hint });
const exposed = new OpsError({ code: "SECRET_FILE_EXPOSED", message: "Cannot read it" });
const ENV = { OPSCTL_SECRETS_DIR: "/srv/secrets" };
const failing = (error: unknown) => Promise.reject(error);

describe("loadTogether()", () => {
  test("returns what the first loads once all are loaded", async () => {
    expect(await loadTogether(Promise.resolve(1), [Promise.resolve(2)], ENV)).toBe(1);
    await expect(loadTogether(Promise.resolve(1), [failing(exposed)], ENV)).rejects.toBe(exposed);
  });

  test("makes one error of all that is missing, each line once, and each advice of errors that list no settings", async () => {
    const own = failing(invalid("first", "  A: is missing", "  B: is missing"));
    const others = [
      failing(invalid("second", "  C: is missing")),
      failing(invalid("third", "  B: is missing")),
    ];
    await expect(loadTogether(own, others, ENV)).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message:
        "Cannot start: 3 settings are missing or invalid\n  A: is missing\n  B: is missing\n  C: is missing",
      hint: "first\nsecond\nthird",
    });
  });

  test("has one advice for settings and secrets together", async () => {
    const one = (name: string, kind: SettingProblem["kind"]) =>
      new OpsError({
        ...{ code: "CONFIG_INVALID", message: `Cannot start: some\n  ${name}: is missing`, hint: name },
        settings: [{ name, problem: "is missing", kind }],
      });
    const together = loadTogether(failing(one("A", "plain")), [failing(one("S", "secret"))], ENV);
    await expect(together).rejects.toMatchObject({
      hint: "Set them in the environment; a secret by its command, or as a file of its name in /srv/secrets with mode 0600",
    });
  });

  test("lists the settings of all, each problem once, and none where one error has no list", async () => {
    const listing = (...names: string[]) =>
      new OpsError({
        ...{ code: "CONFIG_INVALID", message: "Cannot start: some" },
        settings: names.map((name) => ({ name, problem: "is missing", kind: "plain" })),
      });
    const settingsOf = (...errors: OpsError[]) =>
      loadTogether(failing(errors[0]), errors.slice(1).map(failing), ENV).catch(({ settings }) => settings);
    const all = await settingsOf(listing("A", "B"), listing("B", "C"));
    expect(all.map(({ name }: { name: string }) => name)).toEqual(["A", "B", "C"]);
    expect(await settingsOf(listing("A"), invalid("x", "  B: is missing"))).toBeUndefined();
  });

  test("throws a single error as it is, and one of another kind only where no setting is missing", async () => {
    const missing = invalid("only", "  A: is missing");
    await expect(loadTogether(Promise.resolve(1), [failing(missing)], ENV)).rejects.toBe(missing);
    await expect(loadTogether(failing(exposed), [failing(missing)], ENV)).rejects.toBe(missing);
  });
});
