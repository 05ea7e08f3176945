/** Whether doctor says that a failure could be announced. */
import { describe, expect, test } from "bun:test";
import type { Finding } from "../../lib/doctor/context.ts";
import { startStandIn } from "../standins/standin.ts";
import { freePort } from "../support/free-port.ts";
import { CANARIES, openHost } from "./support/host.ts";

describe("opsctl doctor weekly", () => {
  test("tries the alert webhook without posting an alert", async () => {
    await using host = await openHost();
    const answers = { status: 204 };
    const webhook = await startStandIn(
      {
        alerts: {
          method: "POST",
          pattern: /^\/webhook$/,
          handle: async ({ headers }) => ({
            status: headers["x-webhook-secret"] === CANARIES.WEBHOOK_SECRET ? answers.status : 401,
            json: {},
          }),
        },
      },
      { notFound: () => ({ status: 404, json: {} }) },
    );
    host.peers.push(webhook);
    host.setting("weekly", "OPSCTL_ALERT_WEBHOOK", `${webhook.url}/webhook`);
    const found = async () => {
      const findings = await host.examine("weekly");
      const [{ status, code, reason }] = findings.filter(({ check }) => check === "alert webhook") as [
        Finding,
      ];
      return `${status} ${code}: ${reason}`;
    };
    expect(await found()).toStartWith("pass null");
    expect(webhook.ledger.map(({ rawBody }) => rawBody)).toEqual([""]);
    expect(webhook.ledger[0]!.headers["content-type"]).toBe("application/vnd.opsctl.question");

    answers.status = 200;
    expect(await found()).toStartWith("fail ANNOUNCE_FAILED");
    host.put("secrets/WEBHOOK_SECRET", "another");
    expect(await found()).toContain("http_401");
    host.put("secrets/WEBHOOK_SECRET", "");
    host.put("etc/webhook.env", `WEBHOOK_SECRET='${CANARIES.WEBHOOK_SECRET}'\n`);
    // A webhook of an older version.
    answers.status = 415;
    expect(await found()).toStartWith("pass null");
    host.put("etc/webhook.env", "MESSAGING_PHONE=\n");
    expect(await found()).toStartWith(
      "warn PREREQUISITE_FAILED: not checked: it needs WEBHOOK_SECRET, see configuration",
    );
    host.setting("weekly", "OPSCTL_ALERT_WEBHOOK", `http://127.0.0.1:${await freePort()}/webhook`);
    host.put("secrets/WEBHOOK_SECRET", CANARIES.WEBHOOK_SECRET);
    expect(await found()).toContain("unreachable");
    host.setting("weekly", "OPSCTL_ALERT_WEBHOOK", "http://alerts.example.com/webhook");
    expect(await found()).toStartWith("warn PREREQUISITE_FAILED: not checked: it needs OPSCTL_ALERT_WEBHOOK");
  });
});
