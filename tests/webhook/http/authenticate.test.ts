import { describe, expect, test } from "bun:test";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { authenticator } from "../../../lib/webhook/http/authenticate.ts";

const only = (secret: string) => authenticator({ secret: new Secret(secret), previousSecret: null });
const isAuthentic = (headers: Headers) => only("s3cret value")(headers) === "current";

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
    const empty = new Secret("");
    for (const open of [only(""), authenticator({ secret: new Secret("x"), previousSecret: empty })])
      for (const headers of [{}, { "x-webhook-secret": "" }, { authorization: "Bearer " }])
        expect(open(new Headers(headers))).toBeNull();
  });

  test("compares the bytes on the wire, so that a secret outside ASCII works", () => {
    const wire = Buffer.from("prob\u00e9\u2713", "utf8").toString("latin1");
    const headers = new Headers({ "x-webhook-secret": wire });
    expect(only("prob\u00e9\u2713")(headers)).toBe("current");
    expect(only("probe\u2713")(headers)).toBeNull();
  });

  test.each([
    [{ "x-webhook-secret": "new" }, "current"],
    [{ "x-webhook-secret": "old" }, "previous"],
    [{ authorization: "Bearer old" }, "previous"],
    [{ "x-webhook-secret": "new", authorization: "Bearer old" }, "previous"],
    [{ "x-webhook-secret": "old", authorization: "Bearer wrong" }, null],
    [{ "x-webhook-secret": "older" }, null],
    [{}, null],
  ] as const)("with a previous secret it says of %j: %p", (headers, expected) => {
    const both = authenticator({ secret: new Secret("new"), previousSecret: new Secret("old") });
    expect(both(new Headers(headers))).toBe(expected);
  });

  test("a previous secret that is the new one counts as the new one", () => {
    const same = authenticator({ secret: new Secret("new"), previousSecret: new Secret("new") });
    expect(same(new Headers({ "x-webhook-secret": "new" }))).toBe("current");
  });
});
