/** The fallback e-mail while the store takes nothing: critical alerts that neither it nor WhatsApp takes are mailed. */
import { describe, expect, test as testAnywhere } from "bun:test";
import { requires } from "../../support/requires.ts";
import { loseStore, onFailingStores, startFailing } from "../support/failing-store.ts";
import { alertOf, MINUTE_MS, type Service, type Store } from "../support/start-service.ts";
import { critical, mailCalls, mails, onPhone, setEmail, setGateway } from "../support/two-channels.ts";

const { test } = requires("mount");

/** A look of the service at a database that is away takes real time. */
const stepOf = (store: Store) => (store === "postgres" ? 30_000 : 5_000);

/** Posts as a platform does that is asked to come again; returns the statuses. */
async function postTwice(service: Service, name: string, stepMs: number): Promise<number[]> {
  const first = await service.post([critical(name)]);
  await service.advance(3.2 * MINUTE_MS, stepMs);
  return [first.status, (await service.post([critical(name)])).status];
}

describe("an alert that neither store nor gateway takes", () => {
  onFailingStores("is mailed within four minutes, once, and is on the phone once", async (store) => {
    await using service = await startFailing({ store, email: true });
    await loseStore(service);
    setGateway(service, "away");
    const before = service.second;
    expect(await postTwice(service, "a", stepOf(store))).toEqual([503, 503]);
    expect(mails(service).map(({ alerts }) => alerts)).toEqual([["a"]]);
    expect(mails(service)[0]!.second - before).toBeLessThanOrEqual(240);
    expect(service.email.accepted[0]!.text).not.toContain("a mensagem também chega por lá");
    setGateway(service, "none");
    await service.advance(5 * MINUTE_MS, stepOf(store));
    expect(await service.post([critical("a")])).toMatchObject({ status: 200, body: { durable: false } });
    expect(onPhone(service)).toEqual(["a"]);
    service.restoreStore();
    await service.advance(5 * MINUTE_MS, stepOf(store));
    expect(mails(service)).toHaveLength(1);
  });

  test("is not mailed again when the store keeps it", async () => {
    await using service = await startFailing({ email: true });
    await loseStore(service);
    setGateway(service, "away");
    await postTwice(service, "a", 5_000);
    expect(mails(service)).toHaveLength(1);
    service.restoreStore();
    expect((await service.post([critical("a")])).status).toBe(200);
    await service.advance(10 * MINUTE_MS, 5_000);
    expect(mails(service)).toHaveLength(1);
    setGateway(service, "none");
    await service.advance(6 * MINUTE_MS, 5_000);
    expect(onPhone(service)).toEqual(["a"]);
  });

  test("has the same e-mail sent again when the store keeps it before the provider's clear answer", async () => {
    await using service = await startFailing({ email: true });
    await loseStore(service);
    setGateway(service, "away");
    setEmail(service, "unclear");
    await postTwice(service, "a", 5_000);
    service.restoreStore();
    await service.advance(3 * MINUTE_MS, 5_000);
    setEmail(service, "none");
    await service.advance(3 * MINUTE_MS, 5_000);
    const keys = mailCalls(service).map(({ key }) => key);
    expect([keys.length >= 3, new Set(keys).size]).toEqual([true, 1]);
    setGateway(service, "none");
    await service.advance(6 * MINUTE_MS, 5_000);
    expect(onPhone(service)).toEqual(["a"]);
    await service.post([critical("b")]);
    expect(service.messages.filter(({ text }) => text.includes("1 alerta avisado por e-mail"))).toHaveLength(
      1,
    );
  });
});

describe("an alert that waits in a store that fails then", () => {
  onFailingStores("is mailed in time, once, and is on the phone in the end", async (store) => {
    await using service = await startFailing({ store, email: true });
    setGateway(service, "closed");
    expect((await service.post([critical("a"), alertOf("alert-minor")])).status).toBe(200);
    // The list of what waits is read every five seconds.
    await service.advance(5_000);
    service.failStore();
    await service.advance(3.5 * MINUTE_MS, stepOf(store));
    expect(mails(service).map(({ alerts }) => alerts)).toEqual([["a"]]);
    await service.advance(2 * MINUTE_MS, stepOf(store));
    setGateway(service, "none");
    service.restoreStore();
    await service.advance(10 * MINUTE_MS, 5_000);
    expect(mails(service)).toHaveLength(1);
    expect(onPhone(service).toSorted()).toEqual(["a", "minor"]);
  });

  testAnywhere("is mailed by the host that led last, and by no other", async () => {
    await using service = await startFailing({ store: "postgres", email: true });
    const other = await service.another();
    setGateway(service, "closed");
    await service.post([critical("a")]);
    await service.advance(5_000);
    for (const host of [service, other]) host.failStore();
    await service.advance(5 * MINUTE_MS, stepOf("postgres"));
    expect(mails(service).map(({ alerts }) => alerts)).toEqual([["a"]]);
  });

  test("is mailed beside one that is not kept, each once", async () => {
    await using service = await startFailing({ email: true });
    setGateway(service, "away");
    await service.post([critical("kept")]);
    service.failStore();
    await service.post([alertOf("alert-minor")]);
    await postTwice(service, "lost", 5_000);
    const mailed = mails(service).flatMap(({ alerts }) => alerts);
    expect(mailed.toSorted()).toEqual(["kept", "lost"]);
  });
});
