import { describe, expect, test } from "bun:test";
import { EXIT } from "../../../cli/framework/exit-status.ts";
import { outcomeOf } from "../../../cli/framework/outcome.ts";

describe("outcomeOf()", () => {
  test("puts the command's own fields between the common ones", () => {
    const { exitCode, result, text } = outcomeOf({ command: "x list", fields: { rows: [] }, text: "none\n" });
    expect([exitCode, text]).toEqual([EXIT.ok, "none\n"]);
    expect(JSON.stringify(result)).toBe(
      '{"command":"x list","status":"success","exitCode":0,"rows":[],"error":null}',
    );
  });

  test("says the status of the exit status, and the error", () => {
    const error = { code: "X_Y", message: "Cannot do it", hint: undefined };
    const { result } = outcomeOf({ command: "x", exitCode: EXIT.notReady, fields: {}, error, text: "" });
    expect(JSON.stringify(result)).toBe(
      '{"command":"x","status":"not_ready","exitCode":3,"error":{"code":"X_Y","message":"Cannot do it"}}',
    );
  });
});
