/** What can be no token of a peer, and what is only odd about one. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { KNOWN_SECRETS, knownSecret } from "../../lib/platform/config/names/known-secrets.ts";
import type { OpsError } from "../../lib/platform/errors.ts";
import { warningsAbout } from "../../lib/secret/after-set.ts";
import { checkForm } from "../../lib/secret/check-form.ts";
import { oddToken, tokenFault } from "../../lib/secret/token-form.ts";

const ISSUED = {
  EMAIL_API_KEY: "re_",
  EMAIL_READ_API_KEY: "re_",
  ALERT_EMAIL_API_KEY: "re_",
  ISSUE_TRACKER_TOKEN: "lin_api_",
  MONITORING_TOKEN: "glsa_",
  HOSTING_TOKEN: "",
};
const names = Object.keys(ISSUED) as (keyof typeof ISSUED)[];
const BODY = "89gR2kLwX_0vQpTz5mNcB7d.fY~1a";

describe("tokenFault()", () => {
  test.each(names)("takes the whole token of %s, also one that begins otherwise", (name) => {
    for (const text of [ISSUED[name] + BODY, BODY, `${BODY}==`]) expect(tokenFault(name, text)).toBeNull();
    expect(oddToken(name, ISSUED[name] + BODY)).toEqual([]);
  });

  test.each([
    ...[
      "",
      "re_ab cd1234",
      ` re_${BODY}`,
      `re_${BODY} `,
      `"re_${BODY}"`,
      `'re_${BODY}'`,
      `Bearer re_${BODY}`,
    ],
    ...[`EMAIL_API_KEY=re_${BODY}`, "re_", "re_1234567", "abc", "re_…", `re_${BODY};`, "<the key>"],
  ])("refuses %j, which is none", (text) => {
    expect(tokenFault("EMAIL_API_KEY", text)).toMatch(/^(?:holds what no token can|is cut off)/);
  });

  test.each(names)("refuses what is cut off of %s", (name) => {
    expect(tokenFault(name, "abc")).toStartWith("is cut off");
    expect(tokenFault(name, `${ISSUED[name]}1234567`)).toStartWith("is cut off");
    expect(tokenFault(name, `${ISSUED[name]}12345678`)).toBeNull();
  });

  test("lets people write what they like into the secrets that they make up", () => {
    const free = KNOWN_SECRETS.map(({ name }) => name).filter((name) => !Object.hasOwn(ISSUED, name));
    expect(free.length).toBe(KNOWN_SECRETS.length - names.length);
    for (const name of free)
      for (const text of ["abc", "a pass phrase", '"quoted"']) {
        expect(tokenFault(name, text)).toBeNull();
        expect(oddToken(name, text)).toEqual([]);
      }
  });
});

describe("oddToken()", () => {
  test.each([
    [
      "MONITORING_TOKEN",
      `glc_${BODY}`,
      ["the value does not begin with glsa_, as the tokens of the metrics platform usually do"],
    ],
    ["ISSUE_TRACKER_TOKEN", `lin_oauth_${BODY}`, [expect.stringContaining("does not begin with lin_api_")]],
    [
      "HOSTING_TOKEN",
      "zq8vkw3t",
      [expect.stringContaining("is shorter than the tokens of the hosting provider usually are")],
    ],
    ["EMAIL_API_KEY", "re_abcdefghijklmno", [expect.stringContaining("is shorter")]],
    ["EMAIL_API_KEY", "re_zq8vkw3tpl5nmx2c", []],
    ["EMAIL_API_KEY", "zq8vkw3t", [expect.stringContaining("re_"), expect.stringContaining("is shorter")]],
  ])("of %s says what is odd about %j, and takes it", (name, text, warnings) => {
    const secret = knownSecret(name)!;
    const value = checkForm(secret, new TextEncoder().encode(text), {});
    expect(warningsAbout(secret, { value, isForRoot: false })).toEqual(warnings);
  });

  test("quotes no value, and neither does the refusal", () => {
    const text = fc.string({ minLength: 4, maxLength: 40 }).map((part) => `x1y2${part}`);
    fc.assert(
      fc.property(fc.constantFrom(...names), text, (name, value) => {
        const told = [...oddToken(name, value), tokenFault(name, value) ?? "", refusal(name, value)].join();
        expect(told).not.toContain("x1y2");
      }),
    );
  });
});

function refusal(name: string, text: string): string {
  try {
    checkForm(knownSecret(name)!, new TextEncoder().encode(text), {});
    return "";
  } catch (error) {
    const { code, message, hint } = error as OpsError;
    expect(code).toBe("SECRET_MALFORMED");
    return `${message} ${hint}`;
  }
}
