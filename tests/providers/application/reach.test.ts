import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { CallRecord } from "../../../lib/platform/http/call-peer.ts";
import { checkReach } from "../../../lib/providers/application/reach.ts";
import { type Application, startApplication } from "../../standins/application.ts";
import { givenUp } from "../../standins/given-up.ts";

let application: Application;
beforeAll(async () => {
  application = await startApplication({ triggerSecret: "canary-trigger", cronSecret: "canary-cron" });
});
afterAll(() => application.stop());
beforeEach(() => {
  application.ledger.length = 0;
});

const reach = (baseUrl = application.url, timeoutMs = 60_000) =>
  checkReach({ baseUrl: new URL(baseUrl), timeoutMs });

describe("checkReach()", () => {
  test.each([200, 204, 301, 307, 400, 401, 403, 404, 409, 429, 500, 502, 503])(
    "takes a %p for an answer",
    async (status) => {
      application.routes.home.next({ status, ...(status === 204 ? {} : { text: "<html>" }) });
      expect(await reach()).toEqual({ status: "answered" });
    },
  );

  test.each(["break_body", "huge", "bomb", "not_json"] as const)("takes %s for an answer", async (fault) => {
    application.routes.home.next(fault);
    expect(await reach()).toEqual({ status: "answered" });
  });

  test("does not follow the answer elsewhere, and takes no secret along", async () => {
    await reach();
    expect(application.ledger).toHaveLength(1);
    const [{ method, path, headers }] = application.ledger as [(typeof application.ledger)[number]];
    expect({ method, path, authorization: headers.authorization }).toEqual({
      method: "GET",
      path: "/",
      authorization: undefined,
    });
  });

  test("asks below the path that the address has", async () => {
    await reach(`${application.url}/base/?preview=1`);
    expect(application.ledger.map(({ path }) => path)).toEqual(["/base"]);
  });

  test("says why there is no answer", async () => {
    const unreachable = { status: "failed", code: "APP_UNREACHABLE" } as const;
    expect(await reach("http://127.0.0.1:1")).toEqual(unreachable);
    expect(await reach("https://application.invalid")).toEqual(unreachable);
    for (const fault of ["drop", "drop_unread", "not_http"] as const) {
      // Each time: a runtime asks again by itself when a connection that was kept open turns out to be closed.
      application.routes.home.script = () => fault;
      expect(await reach()).toEqual(unreachable);
    }
    application.routes.home.script = null;
    application.routes.home.next("hang");
    const late = await givenUp(application, (limitMs) => reach(application.url, limitMs));
    expect(late).toEqual({ ...unreachable, cause: "APP_TIMEOUT" });
  });

  test("tells the log of the call", async () => {
    const calls: CallRecord[] = [];
    const baseUrl = new URL(application.url);
    await checkReach({ baseUrl, timeoutMs: 15_000, onCall: (call) => calls.push(call) });
    expect(calls).toMatchObject([{ peer: "application", method: "GET", path: "/", status: 307 }]);
  });
});
