import { describe, expect, test } from "bun:test";
import * as v from "valibot";
import { asOpsError, framesOf } from "../../../cli/framework/failure.ts";
import { OpsError } from "../../../lib/platform/errors.ts";

describe("asOpsError()", () => {
  test("leaves an OpsError as it is", () => {
    const error = new OpsError({ code: "CONFIG_INVALID", message: "x" });
    expect(asOpsError(error, "run")).toBe(error);
  });

  test("shows what the engine or the system worded", () => {
    expect(asOpsError(new TypeError("x is not a function"), "run").message).toBe(
      "Cannot run: unexpected TypeError: x is not a function",
    );
    const system = Object.assign(new Error("ENOSPC: no space left on device, write"), {
      code: "ENOSPC",
      syscall: "write",
    });
    expect(asOpsError(system, "run")).toMatchObject({
      code: "INTERNAL_ERROR",
      message: "Cannot run: unexpected Error: ENOSPC: no space left on device, write",
    });
  });

  test("shows no message that may quote data", () => {
    const schema = v.object({ phone: v.number() });
    const thrown = [
      () => v.parse(schema, { phone: "canary-phone" }),
      () => JSON.parse("canary-json"),
      () => {
        throw new Error("canary-message");
      },
      () => {
        throw "canary-text";
      },
    ];
    for (const act of thrown) {
      try {
        act();
      } catch (error) {
        const shown = asOpsError(error, "run");
        expect(shown.code).toBe("INTERNAL_ERROR");
        expect(`${shown.message} ${shown.hint}`).not.toContain("canary");
      }
    }
  });

  test("gives a driver's error the database's code", () => {
    const lost = Object.assign(new Error("write CONNECTION_CLOSED"), { code: "CONNECTION_CLOSED" });
    expect(asOpsError(lost, "list").code).toBe("DATABASE_LOST");
    const server = Object.assign(new Error("relation missing"), { code: "42P01", severity: "ERROR" });
    expect(asOpsError(server, "list").code).toBe("DATABASE_OBJECT_MISSING");
  });

  test("does not take a missing file for a missing database", () => {
    const file = Object.assign(new Error("ENOENT: no such file"), { code: "ENOENT", syscall: "open" });
    expect(asOpsError(file, "read").code).toBe("INTERNAL_ERROR");
  });
});

test("framesOf() shows where, and not what", () => {
  const frames = framesOf(new Error("canary one\nat canary two"));
  expect(frames.length).toBeGreaterThan(0);
  expect(frames.some((frame) => frame.includes("failure.test.ts"))).toBe(true);
  expect(framesOf("text")).toEqual([]);
});
