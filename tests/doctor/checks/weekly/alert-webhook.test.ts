/** Whether doctor says that a failure could be announced. */
import { describe, expect, test } from "bun:test";
import { startStandIn } from "../../../standins/standin.ts";
import { freePort } from "../../../support/free-port.ts";
import { CANARIES, openHost } from "../../support/host.ts";
import { findingsOf } from "./support.ts";

describe("opsctl doctor weekly", () => {
  test("tries the alert webhook without telling it anything", async () => {
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
    expect(await findingsOf(host, "alert webhook")).toEqual([
      "pass the webhook answers and takes the secret",
    ]);
    expect(webhook.ledger.map(({ rawBody }) => rawBody)).toEqual([""]);
    expect(webhook.ledger[0]!.headers["content-type"]).toBe("application/vnd.opsctl.question");

    answers.status = 200;
    expect((await findingsOf(host, "alert webhook"))[0]).toContain("fail ANNOUNCE_FAILED");
    host.put("secrets/WEBHOOK_SECRET", "another");
    expect((await findingsOf(host, "alert webhook"))[0]).toContain("http_401");
    host.put("secrets/WEBHOOK_SECRET", "");
    host.put("etc/webhook.env", `WEBHOOK_SECRET='${CANARIES.WEBHOOK_SECRET}'\n`);
    // A webhook of an older version.
    answers.status = 415;
    expect(await findingsOf(host, "alert webhook")).toEqual([
      "pass the webhook answers and takes the secret",
    ]);
    host.put("etc/webhook.env", "MESSAGING_PHONE=\n");
    expect((await findingsOf(host, "alert webhook"))[0]).toStartWith("fail WEBHOOK_SECRET is missing");
    host.setting("weekly", "OPSCTL_ALERT_WEBHOOK", `http://127.0.0.1:${await freePort()}/webhook`);
    host.put("secrets/WEBHOOK_SECRET", CANARIES.WEBHOOK_SECRET);
    expect((await findingsOf(host, "alert webhook"))[0]).toContain("unreachable");
    host.setting("weekly", "OPSCTL_ALERT_WEBHOOK", "http://alerts.example.com/webhook");
    expect((await findingsOf(host, "alert webhook"))[0]).toStartWith(
      "fail OPSCTL_ALERT_WEBHOOK would send a secret",
    );
  });
});
