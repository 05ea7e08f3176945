import { describe, expect, test } from "bun:test";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { authenticator } from "../../../lib/webhook/http/authenticate.ts";

const isAuthentic = authenticator(new Secret("s3cret value"));

describe("authenticator()", () => {
  test.each([
    [{ "x-webhook-secret": "s3cret value" }, true],
    [{ authorization: "Bearer s3cret value" }, true],
    [{ authorization: "bearer   s3cret value" }, true],
    [{ "x-webhook-secret": "s3cret value", authorization: "Bearer s3cret value" }, true],
    [{}, false],
    [{ "x-webhook-secret": "" }, false],
    [{ "x-webhook-secret": "s3cret" }, false],
    [{ "x-webhook-secret": "s3cret value2" }, false],
    [{ "x-webhook-secret": "S3cret value" }, false],
    [{ "x-webhook-secret": "s3cret value, s3cret value" }, false],
    [{ authorization: "Bearer" }, false],
    [{ authorization: "s3cret value" }, false],
    [{ authorization: "Basic s3cret value" }, false],
    [{ "x-webhook-secret": "s3cret value", authorization: "Bearer wrong" }, false],
    [{ "x-webhook-secret": "wrong", authorization: "Bearer s3cret value" }, false],
    [{ "x-webhook-secret": "s3cret value", authorization: "Basic eDp5" }, false],
  ])("says of %j: %p", (headers, expected) => {
    expect(isAuthentic(new Headers(headers))).toBe(expected);
  });

  test("lets nobody in with an empty secret", () => {
    const open = authenticator(new Secret(""));
    for (const headers of [{}, { "x-webhook-secret": "" }, { authorization: "Bearer " }])
      expect(open(new Headers(headers))).toBe(false);
  });

  test("compares the bytes on the wire, so that a secret outside ASCII works", () => {
    const wire = Buffer.from("prob\u00e9\u2713", "utf8").toString("latin1");
    const headers = new Headers({ "x-webhook-secret": wire });
    expect(authenticator(new Secret("prob\u00e9\u2713"))(headers)).toBe(true);
    expect(authenticator(new Secret("probe\u2713"))(headers)).toBe(false);
  });
});
