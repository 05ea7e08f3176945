/** What each kind of answer of the gateway becomes for an alert, for those behind it, and in the log. */
import { describe, expect } from "bun:test";
import { isEndless, playedBy } from "../../cases/answer-case.ts";
import { SEND_ANSWERS } from "../../cases/gateway-answers.ts";
import { refusedPort } from "../../standins/raw-peer.ts";
import { alertOf, onBothStores, startService } from "../support/start-service.ts";

describe("an answer of the gateway to a message", () => {
  onBothStores(playedBy("webhook", SEND_ANSWERS), async ({ answer, becomes }, store) => {
    const limit = isEndless(answer) ? { peerLimitMs: 1_000 } : {};
    await using service = await startService({ store, ...limit });
    const { gateway } = service;
    if (answer === "nobody_listens")
      await service.restart({ gatewayUrl: `http://127.0.0.1:${await refusedPort()}` });
    else gateway.routes.send.next(answer);
    const { body } = await service.post([alertOf("a", { status: "resolved" })]);
    expect(body.alerts[0]).toMatchObject({ whatsapp: "queued" });
    const [line] = service.log.filter(({ level, kind }) => level === "warn" && kind === "message");
    const { paused, message } = await service.health();
    expect(message).toMatchObject({ queued: 1, dead: 0, unknown: 0 });

    const code = "code" in becomes ? becomes.code : "";
    const stops = becomes.status === "failed" && becomes.stopsChannel;
    expect(paused.message).toBe(stops ? code : null);
    const isClosed = becomes.status === "unknown" && becomes.isOutage === true && code === "gateway_http_500";
    expect(line).toMatchObject({ code: isClosed ? "gateway_connection_closed" : code });
    const behind = await service.post([alertOf("b", { status: "resolved" })]);
    const waits = stops || becomes.status === "throttled";
    expect(behind.body.alerts[0]).toMatchObject({
      whatsapp: waits || answer === "nobody_listens" ? "queued" : "sent",
    });

    if (answer === "nobody_listens") await service.reload({ gatewayUrl: gateway.url });
    await service.advance(becomes.status === "throttled" ? becomes.retryAfterMs - 1_000 : 0);
    if (becomes.status === "throttled") expect(service.messages).toEqual([]);
    await service.advance(3 * 60_000, 5_000);
    // Also what was taken and not said so is on the phone once.
    expect(service.messages.map(({ name }) => name).toSorted()).toEqual(["a", "b"]);
    // Only what may have arrived is looked for before it is sent again.
    const mayHaveArrived = becomes.status === "unknown";
    expect(service.lookUps.length > 0).toBe(mayHaveArrived);
    expect((await service.health()).paused.message).toBeNull();
  });
});
