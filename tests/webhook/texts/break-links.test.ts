import { expect, test } from "bun:test";
import fc from "fast-check";
import { breakLinks } from "../../../lib/webhook/texts/break-links.ts";

/** The text before its links were broken. */
const whole = (text: string) => text.replace(/\[([.\u3002\uFF0E\uFF61\u2024\uFE52]|@|:|:?\/\/)\]/g, "$1");

test.each([
  ["https://localhost/x", "https[://]localhost/x"],
  ["HTTP://LOCALHOST e ftp://x", "HTTP[://]LOCALHOST e ftp[://]x"],
  ["file:///etc, http://", "file[://]/etc, http[://]"],
])("breakLinks() breaks the scheme of %p", (text, broken) => {
  expect(breakLinks(text)).toBe(broken);
});

test.each([
  "11.2% de 1.204.333 conexões, R$ 1.5mil, -3.25e10",
  "v1.2.3 v1.2.3-rc1 1.3.6",
  "node_load1 > 8 em /dev/sda1, às 18:10:05.123",
  "Há. Verifique. Fim… e mais: a, b; c/d",
  "/var/log/auth.log nginx.service ssh.socket app.json .env ./x ../y ~/.bashrc",
  "sum(rate(x[5m])) by (job) // comentário",
  "612368384 bytes, +55 11 99876-5432",
])("breakLinks() leaves %p as it is", (text) => {
  expect(breakLinks(text)).toBe(text);
});

test("breakLinks() can be undone, so that different texts stay different", () => {
  const part = fc.constantFrom(..."[].:/@a ", "://", "https", "evil", ".com", "www.");
  const text = fc.array(part, { maxLength: 20 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(text, (any) => expect(whole(breakLinks(any))).toBe(any)),
    { numRuns: 2_000 },
  );
});
