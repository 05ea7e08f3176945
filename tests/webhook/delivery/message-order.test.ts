/** The order of the messages of one fingerprint, and of a message and its issue. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Scripted } from "../../standins/standin.ts";
import { alertOf, MINUTE_MS, onBothStores, type Service, startService } from "../support/start-service.ts";

const OUTAGE = { status: 502, text: "Bad Gateway" };
const OWN_FAILURE = { status: 413, json: { status: 413, error: "Payload Too Large" } };

const onPhone = (service: Service) => service.messages.map(({ text }) => /n\d+/.exec(text)?.[0]);
const note = (fingerprint: string, summary: string, status = "firing") =>
  alertOf(fingerprint, { status, annotations: { summary } });

/** What the gateway does to the first message of a fingerprint while others wait behind it. */
const TROUBLES = [
  {
    name: "a gateway that is unavailable delays messages and keeps their order, over a restart, and no issue waits",
    first: OUTAGE,
  },
  { name: "a message that fails alone blocks its own fingerprint, and no other", first: OWN_FAILURE },
];

onBothStores(TROUBLES, async ({ first }, store) => {
  await using service = await startService({ store });
  service.gateway.routes.send.scriptByBody = ({ rawBody }) => (/n[1-3]/.test(rawBody) ? first : undefined);
  await service.post([note("abc", "n1")]);
  expect(service.tracker.issues).toHaveLength(1);
  await service.post([note("abc", "n2"), note("other", "n7")]);
  await service.post([note("abc", "n3", "resolved")]);
  await service.advance(30_000);
  // A failure that meets every message may keep the other one waiting as well, for some seconds.
  expect(onPhone(service)).toEqual(["n7"]);
  expect(service.sends.filter(({ text }) => /n[23]/.test(text))).toEqual([]);
  await service.restart();
  service.gateway.routes.send.scriptByBody = null;
  await service.advance(5 * MINUTE_MS, 5_000);
  expect(onPhone(service)).toEqual(["n7", "n1", "n2", "n3"]);
  expect(service.tracker.issues).toHaveLength(2);
});

/** How a message ends that is not known to be on the phone, while another one of its fingerprint waits. */
const ENDS: { name: string; answer: Scripted; end(service: Service): Promise<unknown>; phone: string[] }[] = [
  {
    name: "a message that an operator drops blocks nothing",
    answer: OUTAGE,
    async end({ operator }) {
      const [first] = await operator.queued();
      expect(await operator.dropQueued([first!.id])).toBe(1);
    },
    phone: ["n2"],
  },
  {
    name: "a message whose result stays unknown blocks nothing",
    answer: { accept: { status: 500, json: {} } },
    end: (service) => service.advance(20 * MINUTE_MS, 5_000),
    phone: ["n1", "n1", "n1", "n2"],
  },
];

onBothStores(ENDS, async ({ answer, end, phone }, store) => {
  await using service = await startService({ store });
  service.gateway.keepsMessages = false;
  service.gateway.routes.send.scriptByBody = ({ rawBody }) => (rawBody.includes("n1") ? answer : undefined);
  await service.post([note("abc", "n1")]);
  await service.post([note("abc", "n2", "resolved")]);
  await end(service);
  await service.advance(5 * MINUTE_MS, 5_000);
  expect(onPhone(service)).toEqual(phone);
});

test("a row whose alert is damaged is sent without its name, and takes nothing else with it", async () => {
  await using service = await startService();
  service.gateway.routes.send.next(OUTAGE);
  await service.post([note("bad", "n1", "resolved")]);
  const db = new DatabaseSync(join(service.directory, "state.db"));
  db.exec("update outbox set alert = '{', content = null where state = 'queued'");
  db.close();
  await service.advance(10_000);
  expect(service.messages).toMatchObject([{ text: expect.stringContaining("sem nome") }]);
  await service.post([note("bad", "n2", "resolved")]);
  expect(onPhone(service)).toEqual([undefined, "n2"]);
});
