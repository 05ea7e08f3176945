/** The alarm while nothing can be kept: a disk filled to its last byte, a database that is away; under load. */
import { expect, test } from "bun:test";
import { startTcpProxy } from "../../standins/tcp-proxy.ts";
import { sharedPostgres } from "../../support/postgres.ts";
import { requires } from "../../support/requires.ts";
import { smallDisk } from "../../support/small-disk.ts";
import { until } from "../../support/until.ts";
import { openWebhookArena, postAlerts, type Serving, type WebhookArena } from "../support/serve.ts";

/** Room for a state to grow in, and for a small reserve. */
const DISK_MIB = 32;
const SENDERS = 4;
/** So many alerts have to go out from memory before there is room again. */
const FROM_MEMORY = 30;
const ARGS = ["--messages-per-minute", "60000", "--issues-per-hour", "3600000"];

type Answered = { name: string; isDurable: boolean };

const alertOf = (name: string, severity = "warning") => ({
  status: "firing",
  fingerprint: name,
  startsAt: "2026-11-22T12:00:00Z",
  labels: { alertname: name, ruleGroup: "vps-infra", severity },
  annotations: { summary: "Restam 0% do disco em /", description: "x".repeat(2_000) },
});

async function post(url: string, name: string, severity?: string): Promise<Answered | null> {
  const { status, json } = await postAlerts(url, { alerts: [alertOf(name, severity)] });
  expect([200, 503]).toContain(status);
  return status === 200 ? { name, isDurable: (json as { durable?: boolean }).durable !== false } : null;
}

/** Posts from several senders until enough alerts went out from memory; returns all that were answered with 200. */
async function load(url: () => string, prefix: string): Promise<Answered[]> {
  const answered: Answered[] = [];
  let number = 0;
  const isOver = () => answered.filter(({ isDurable }) => !isDurable).length >= FROM_MEMORY;
  const sender = async () => {
    while (!isOver() && number < 5_000) {
      number += 1;
      const answer = await post(url(), `${prefix}-${number}`);
      if (answer !== null) answered.push(answer);
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, sender));
  expect(isOver()).toBe(true);
  return answered;
}

const sentNames = ({ gateway }: WebhookArena) =>
  gateway.accepted.map(({ text }) => /\*(.+?)\*/.exec(text)![1]!.replaceAll("\\", ""));

const timesOf = (names: readonly string[], name: string) => names.filter((one) => one === name).length;

/** What is true of everything that was answered with 200, once all of it is out. */
async function expectAllTold(arena: WebhookArena, answered: readonly Answered[]): Promise<void> {
  await until("every alert answered with 200 is out", () => {
    const sent = new Set(sentNames(arena));
    return answered.every(({ name }) => sent.has(name));
  });
  const sent = sentNames(arena);
  for (const { name, isDurable } of answered)
    if (!isDurable) expect([name, timesOf(sent, name)]).toEqual([name, 1]);
  await until("every one has its issue", () => arena.tracker.issues.length >= answered.length);
  const titles = arena.tracker.issues.map(({ title }) => title);
  expect(new Set(titles).size).toBe(titles.length);
}

/** The critical alert about the disk is on the phone now, and later has neither a second message nor a second issue. */
async function expectCriticalTold(arena: WebhookArena, url: string): Promise<Answered> {
  const name = "Disco Raiz Baixo";
  const answer = await post(url, name, "critical");
  // What was delivered has left some room in the file.
  expect(answer).not.toBeNull();
  expect(timesOf(sentNames(arena), name)).toBe(1);
  return answer!;
}

async function expectNormalAgain(arena: WebhookArena, { url, adminUrl, log }: Serving): Promise<void> {
  await until("alerts are kept again", () => log().includes("Degraded mode is over"));
  expect((await fetch(`${adminUrl}/readyz`)).status).toBe(200);
  const { json } = await postAlerts(url, { alerts: [alertOf("Disco Raiz Baixo", "critical")] });
  expect(json).not.toHaveProperty("durable");
  expect(json).toMatchObject({ alerts: [{ issue: "duplicate" }] });
  await until("its message is out", () => timesOf(sentNames(arena), "Disco Raiz Baixo") === 2);
  const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
  const fromMemory = Number(/^opsctl_webhook_degraded_sent_total (\d+)$/m.exec(metrics)?.[1]);
  expect(fromMemory).toBeGreaterThanOrEqual(FROM_MEMORY);
}

const { test: testOnSmallDisk } = requires("mount");

testOnSmallDisk("a disk filled to the last byte does not silence the alarm", async () => {
  await using arena = await openWebhookArena();
  using disk = smallDisk(DISK_MIB);
  const serving = await arena.start({ args: ARGS, env: { OPSCTL_STATE_DIR: disk.directory } });
  expect(await post(serving.url, "before")).toMatchObject({ isDurable: true });
  disk.fill();
  const answered = await load(() => serving.url, "full");
  answered.push(await expectCriticalTold(arena, serving.url));
  disk.empty();
  await expectAllTold(arena, [...answered, { name: "before", isDurable: true }]);
  await expectNormalAgain(arena, serving);
  serving.kill("SIGTERM");
  expect((await serving.ended).exitCode).toBe(0);
});

testOnSmallDisk(
  "a service that starts on a full disk, and again after a kill, sends alerts and stores them once there is room",
  async () => {
    await using arena = await openWebhookArena();
    using disk = smallDisk(DISK_MIB);
    disk.fill();
    const options = { args: ARGS, env: { OPSCTL_STATE_DIR: disk.directory } };
    const first = await arena.start(options);
    expect(first.log()).toContain("The state cannot be opened at the start");
    expect((await fetch(`${first.adminUrl}/readyz`)).status).toBe(503);
    expect(await (await fetch(`${first.adminUrl}/metrics`)).text()).toMatch(
      /^opsctl_webhook_state_unreadable 1$/m,
    );
    const answered = await load(() => first.url, "first");
    first.kill("SIGKILL");
    await first.ended;
    const second = await arena.start(options);
    answered.push(...(await load(() => second.url, "second")));
    answered.push(await expectCriticalTold(arena, second.url));
    disk.empty();
    await expectAllTold(arena, answered);
    await expectNormalAgain(arena, second);
    second.kill("SIGTERM");
    expect((await second.ended).exitCode).toBe(0);
  },
);

test("an unavailable database does not silence the alarm", async () => {
  await using arena = await openWebhookArena();
  const db = await (await sharedPostgres()).createDatabase();
  const proxy = await startTcpProxy(Number(new URL(db.url).port));
  try {
    const url = new URL(db.url);
    url.port = String(proxy.port);
    const serving = await arena.start({ args: ARGS, env: { OPSCTL_STATE_URL: url.href } });
    expect(await post(serving.url, "before")).toMatchObject({ isDurable: true });
    proxy.close();
    const answered = await load(() => serving.url, "away");
    answered.push(await expectCriticalTold(arena, serving.url));
    proxy.open();
    await expectAllTold(arena, [...answered, { name: "before", isDurable: true }]);
    await expectNormalAgain(arena, serving);
  } finally {
    await proxy.stop();
    await db.drop();
  }
});
