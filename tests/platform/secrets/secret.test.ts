import { expect, test } from "bun:test";
import { inspect } from "node:util";
import { redact } from "../../../lib/platform/secrets/redact.ts";
import { Secret } from "../../../lib/platform/secrets/secret.ts";

test("Secret shows itself in no form but open()", () => {
  const secret = new Secret("canary-of-the-secret-class");
  const shown = [
    String(secret),
    `${secret}`,
    JSON.stringify({ secret }),
    inspect(secret, { depth: null, showHidden: true }),
    inspect({ nested: [secret] }, { depth: null }),
    Bun.inspect(secret),
    Object.values(secret).join(),
    String(structuredClone({ ...secret })),
  ];
  for (const text of shown) expect(text).not.toContain("canary");
  expect(JSON.stringify({ secret })).toBe('{"secret":"<secret>"}');
  expect(secret.open()).toBe("canary-of-the-secret-class");
});

test("Secret is known to redact() from its birth", () => {
  new Secret("canary-born-secret");
  expect(redact("x canary-born-secret y")).toBe("x <secret> y");
});
