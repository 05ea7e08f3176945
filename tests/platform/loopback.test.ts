import { expect, test } from "bun:test";
import { isLoopback } from "../../lib/platform/loopback.ts";

test.each([
  ["localhost", true],
  ["LocalHost", true],
  ["127.0.0.1", true],
  ["127.255.10.9", true],
  ["::1", true],
  ["::ffff:127.0.0.1", true],
  ["::ffff:7f00:1", true],
  ["127.0.0.256", false],
  ["127.0.0.1.example.com", false],
  ["localhost.example.com", false],
  ["0.0.0.0", false],
  ["10.0.0.1", false],
  ["::ffff:10.0.0.1", false],
  ["::ffff:localhost", false],
  ["::", false],
  ["", false],
])("isLoopback(%j) is %p", (host, expected) => {
  expect(isLoopback(host)).toBe(expected);
});
