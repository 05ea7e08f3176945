import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { inspect } from "node:util";
import { Secret } from "../../lib/platform/secrets/secret.ts";
import { pingOf } from "../../lib/providers/ping.ts";
import { limitMsFor } from "../cases/answer-case.ts";
import { type PingStandIn, startPing } from "../standins/ping.ts";

let check: PingStandIn;
beforeEach(async () => {
  check = await startPing();
});
afterEach(async () => await check.stop());

const ping = (path: string, timeoutMs = 60_000) => pingOf(new Secret(`${check.url}${path}`), timeoutMs);
const asked = () => check.ledger.map(({ method, path }) => `${method} ${path}`);

describe("pingOf()", () => {
  test.each([
    ["/canary-uuid", "/canary-uuid", "/canary-uuid/fail"],
    ["/ping/key/slug", "/ping/key/slug", "/ping/key/slug/fail"],
    ["/slug?create=1&rid=7", "/slug?create=1&rid=7", "/slug/fail?create=1&rid=7"],
    ["/slug/", "/slug/", "/slug/fail"],
    ["/a%2Fb?x=%20", "/a%2Fb?x=%20", "/a%2Fb/fail?x=%20"],
  ])("asks for %s", async (path, well, unwell) => {
    expect(await ping(path)(true)).toEqual({ status: "sent" });
    expect(await ping(path)(false)).toEqual({ status: "sent" });
    expect(asked()).toEqual([`GET ${well}`, `GET ${unwell}`]);
  });

  test.each([
    ["hang", "timeout"],
    ["drop", "connection_lost"],
    [{ status: 404, text: "not found" }, "http_404"],
    [{ status: 302, headers: { location: "https://login.example/" } }, "http_302"],
    [{ status: 503 }, "http_503"],
  ] as const)("%p is a failure without a part of the address", async (fault, code) => {
    check.routes.ping.next(fault);
    const outcome = await ping("/canary-uuid", limitMsFor(fault))(true);
    expect(outcome).toEqual({ status: "failed", code });
    expect(inspect(outcome)).not.toContain("canary");
    expect(check.ledger).toHaveLength(1);
  });

  test("fails where nothing listens, and ends at a signal", async () => {
    const tell = ping("/canary-uuid");
    check.routes.ping.next("hang");
    const stop = new AbortController();
    const ended = tell(true, stop.signal);
    stop.abort();
    expect(await ended).toMatchObject({ status: "failed" });
    await check.stop();
    expect(await tell(true)).toEqual({ status: "failed", code: "unreachable" });
  });
});
