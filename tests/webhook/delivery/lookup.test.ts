/** What the gateway has sent that counts as the message whose send ended without a clear answer. */
import { describe, expect, test } from "bun:test";
import { refusal } from "../../cases/gateway-answers.ts";
import type { KeptRow } from "../../standins/gateway.ts";
import type { Scripted } from "../../standins/standin.ts";
import { PHONE } from "../support/settings.ts";
import {
  alertOf,
  MINUTE_MS,
  onBothStores,
  type Service,
  START_MS,
  startService,
} from "../support/start-service.ts";

const UNCLEAR = refusal(500, "Timed Out");
const OUTAGE = { status: 504, text: "Gateway Timeout" };

const post = (service: Service, name = "a") => service.post([alertOf(name, { status: "resolved" })]);

/** Puts a message among those that the gateway has sent: that of the first send, but for these changes. */
function keep({ gateway, sends }: Service, changes: Partial<KeptRow> = {}): void {
  const remoteJid = `${PHONE}@s.whatsapp.net`;
  const sentAt = START_MS / 1_000 + 1;
  gateway.kept.push({ instance: "ops", remoteJid, id: "3EB0A", text: sends[0]!.text, sentAt, ...changes });
}

/** A message that the gateway has sent, by how it differs from the one that is looked for. */
const KEPT: { name: string; kept: Partial<KeptRow>; isFound: boolean }[] = [
  { name: "the very message is found", kept: {}, isFound: true },
  {
    name: "one whose time is a little earlier by the gateway's clock is found",
    kept: { sentAt: START_MS / 1_000 - 30 },
    isFound: true,
  },
  {
    name: "one that WhatsApp took after an error is found",
    kept: { statuses: ["ERROR", "SERVER_ACK"] },
    isFound: true,
  },
  { name: "one with another text is not taken for it", kept: { text: "Another" }, isFound: false },
  {
    name: "one to another number is not taken for it",
    kept: { remoteJid: "5511999999999@s.whatsapp.net" },
    isFound: false,
  },
  {
    name: "one of long before is not taken for it",
    kept: { sentAt: START_MS / 1_000 - 120 },
    isFound: false,
  },
  { name: "one that was received is not taken for it", kept: { fromMe: false }, isFound: false },
  {
    name: "one that WhatsApp gave back is not taken for it",
    kept: { statuses: ["PENDING", "ERROR"] },
    isFound: false,
  },
];

describe.each([
  ["an unclear answer", UNCLEAR],
  ["an outage", OUTAGE],
])("after %s, among what the gateway has sent,", (_what, answer) => {
  test.each(KEPT)("$name", async ({ kept, isFound }) => {
    await using service = await startService();
    service.gateway.routes.send.next(answer);
    await post(service);
    keep(service, { id: "3EB0B", text: "Something else" });
    keep(service, kept);
    await service.advance(2 * MINUTE_MS, 5_000);
    expect(service.sends).toHaveLength(isFound ? 1 : 2);
    expect((await service.health()).message).toMatchObject({ queued: 0, dead: 0, unknown: 0 });
  });
});

onBothStores("a message is taken for one alert only, when several have the same text", async (store) => {
  await using service = await startService({ store });
  const same = (fingerprint: string) =>
    alertOf({ fingerprint, status: "resolved", labels: { alertname: "same" } });
  await service.post([same("first")]);
  const [{ id } = { id: "" }] = service.gateway.accepted;
  service.gateway.routes.send.next(UNCLEAR, UNCLEAR);
  await service.post([same("second"), same("third")]);
  keep(service);
  await service.advance(2 * MINUTE_MS, 5_000);
  // One of the two was sent by the gateway; neither is the first one, which is delivered.
  expect(service.sends).toHaveLength(4);
  expect(service.gateway.kept.map((row) => row.id)).toContain(id);
  expect((await service.health()).message).toMatchObject({ queued: 0, dead: 0, unknown: 0 });
});

/** What the gateway answers when it is asked, and whether the message is sent again without knowing more. */
const FAULTS: { name: string; fault: Scripted; isSentAgain: boolean }[] = [
  { name: "a gateway that breaks off is asked again first", fault: "drop", isSentAgain: false },
  { name: "a proxy's 502 is asked again first", fault: { status: 502, text: "" }, isSentAgain: false },
  {
    name: "a gateway without its database is asked again first",
    fault: refusal(500, "\nInvalid `prisma.message.count()` invocation:\n\n\nCan't reach"),
    isSentAgain: false,
  },
  { name: "an answer that cannot be read does not delay the message", fault: "not_json", isSentAgain: true },
  {
    name: "a fault of the gateway's own does not delay the message",
    fault: refusal(500, "Internal"),
    isSentAgain: true,
  },
];

describe("a failed look-up:", () => {
  onBothStores(FAULTS, async ({ fault, isSentAgain }, store) => {
    await using service = await startService({ store });
    service.gateway.routes.send.next(UNCLEAR);
    service.gateway.routes.messages.scriptByBody = ({ rawBody }) =>
      rawBody.includes("messageTimestamp") ? fault : undefined;
    await post(service);
    keep(service);
    await service.advance(3 * MINUTE_MS, 5_000);
    expect(service.sends).toHaveLength(isSentAgain ? 2 : 1);
    service.gateway.routes.messages.scriptByBody = null;
    await service.advance(5 * MINUTE_MS, 5_000);
    expect(service.sends).toHaveLength(isSentAgain ? 2 : 1);
    expect((await service.health()).message).toMatchObject({ queued: 0, dead: 0, unknown: 0 });
  });
});

test("where the gateway has sent more since than it gives at once, it is not known and sent again", async () => {
  await using service = await startService();
  service.gateway.routes.send.next({ accept: UNCLEAR });
  await post(service);
  for (let at = 0; at < 250; at += 1) keep(service, { id: `3EB1${at}`, text: "Something else" });
  await service.advance(2 * MINUTE_MS, 5_000);
  expect([service.sends.length, service.lookUps.length]).toEqual([2, 1]);
  expect((await service.health()).message).toMatchObject({ queued: 0, dead: 0, unknown: 0 });
});

onBothStores(
  "a message is also found where the gateway keeps it under the number without its extra digit",
  async (store) => {
    await using service = await startService({ store, phone: "5531988887777" });
    service.gateway.routes.send.next({ accept: UNCLEAR });
    await post(service);
    await service.advance(2 * MINUTE_MS, 5_000);
    expect(service.gateway.kept.map(({ remoteJid }) => remoteJid)).toEqual(["553188887777@s.whatsapp.net"]);
    expect(service.sends).toHaveLength(1);
    expect((await service.health()).message).toMatchObject({ queued: 0, unknown: 0 });
  },
);
