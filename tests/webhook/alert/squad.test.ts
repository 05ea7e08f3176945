import { describe, expect, test } from "bun:test";
import { squadOf } from "../../../lib/webhook/alert/squad.ts";

describe("squadOf()", () => {
  test.each([
    ["vps-infra", "infra"],
    ["vps-security", "security"],
    ["VPS-INFRA", "geral"],
    ["vps-infra ", "geral"],
    ["vps-infra-2", "geral"],
    ["", "geral"],
    ["toString", "geral"],
    ["__proto__", "geral"],
    [undefined, "geral"],
    [null, "geral"],
    [7, "geral"],
    [["vps-infra"], "geral"],
    [{ toString: () => "vps-infra" }, "geral"],
  ])("%p is %p", (ruleGroup, squad) => {
    expect<string>(squadOf(ruleGroup)).toBe(squad);
  });
});
