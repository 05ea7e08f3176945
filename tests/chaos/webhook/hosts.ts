/** Two hosts of the webhook with one state: killed, frozen and cut off while alerts arrive and their database moves. */
import { expect } from "bun:test";
import { setTimeout as delay } from "node:timers/promises";
import { openWebhookArena, postAlerts, type Serving, type WebhookArena } from "../../e2e/support/serve.ts";
import { startTcpProxy, type TcpProxy } from "../../standins/tcp-proxy.ts";
import { type PostgresServer, startPostgres, type TestDatabase } from "../../support/postgres.ts";
import { until } from "../../support/until.ts";
import { type Random, randomFrom } from "../random.ts";
import { namesIn, timesSent } from "./names-sent.ts";

/** How two hosts are disturbed, and how often; with `digests`, at so slow a pace that most messages share a text. */
export type HostDisturbance = { seed: number; moves: number; digests?: boolean };

/** What came of it: how often alerts were sent too often, in all, and how many went out from memory. */
export type HostDamage = {
  moves: string[];
  alerts: number;
  doubled: number;
  digests: number;
  fromMemory: number;
};

/** After so many sends without a clear answer a row's result is unknown. */
const MOST_SENDS = 3;
/** Longer than the lease of the host that delivers. */
const PAST_THE_LEASE_MS = 17_000;
const QUICK = ["--messages-per-minute", "60000", "--issues-per-hour", "3600000"];
const TOGETHER = ["--messages-per-minute", "300", "--digest-after", "1", "--issues-per-hour", "3600000"];
const SEVERITIES = ["critical", "high", "warning"];

/** What a host is started with. */
type Place = { arena: WebhookArena; server: PostgresServer; db: TestDatabase; args: string[] };
type Stage = Place & { hosts: [Host, Host]; random: Random };
type Host = { relay: TcpProxy; service: Serving };

/**
 * Disturbs two hosts that share a state while alerts reach both; then lets everything heal.
 *
 * Behaviour: fails unless every alert that was answered with 200 is sent or its result unknown, no row was sent more than three
 *            times, no fingerprint that was posted once has two issues, and none gets another once all has healed.
 */
export async function disturbHosts(disturbance: HostDisturbance): Promise<HostDamage> {
  const { seed, moves, digests = false } = disturbance;
  const server = await startPostgres({ inMemory: true });
  await using arena = await openWebhookArena();
  arena.gateway.latencyMs = 200;
  const db = await server.createDatabase({ migrated: false, appSchema: false });
  const place: Place = { arena, server, db, args: digests ? TOGETHER : QUICK };
  const hosts: [Host, Host] = [await startHost(place), await startHost(place)];
  const stage: Stage = { ...place, hosts, random: randomFrom(seed) };
  try {
    const posting = sendAll(stage);
    const made: string[] = [];
    for (let i = 0; i < moves; i += 1) made.push(await disturb(stage));
    posting.isOver = true;
    const posted = await posting.ended;
    await expectAllSent(stage, posted);
    return { moves: made, ...damageOf(stage, posted) };
  } finally {
    for (const { service, relay } of hosts) {
      service.kill("SIGKILL");
      await service.ended;
      await relay.stop();
    }
    await server.stop();
  }
}

async function startHost(place: Place): Promise<Host> {
  const relay = await startTcpProxy(place.server.port);
  return { relay, service: await startService(place, relay) };
}

function startService({ arena, db, args }: Place, { port }: TcpProxy): Promise<Serving> {
  const url = new URL(db.url);
  url.port = String(port);
  return arena.start({ args, env: { OPSCTL_STATE_URL: url.href } });
}

type Move = (stage: Stage, leader: Host) => Promise<void>;

const MOVES: Record<string, Move> = {
  "killed, and started at once": (stage, leader) => killFor(stage, leader, 0),
  "killed for longer than its lease": (stage, leader) => killFor(stage, leader, PAST_THE_LEASE_MS),
  async frozen(_stage, { service }) {
    service.kill("SIGSTOP");
    await delay(PAST_THE_LEASE_MS);
    service.kill("SIGCONT");
  },
  async "cut off"(_stage, { relay }) {
    relay.close();
    await delay(PAST_THE_LEASE_MS);
    relay.open();
  },
  async "connections broken"(_stage, { relay }) {
    relay.cut();
  },
  async "connections silent"(_stage, { relay }) {
    relay.silence();
  },
  async "ended, and started again"(stage, leader) {
    leader.service.kill("SIGTERM");
    await leader.service.ended;
    leader.service = await startService(stage, leader.relay);
  },
  "database crashed": ({ server, random }) => restart(server, "immediate", random.below(3_000)),
  "database away": ({ server }) => restart(server, "fast", PAST_THE_LEASE_MS),
};

async function killFor(place: Place, host: Host, awayMs: number): Promise<void> {
  host.service.kill("SIGKILL");
  await host.service.ended;
  await delay(awayMs);
  host.service = await startService(place, host.relay);
}

async function restart(server: PostgresServer, how: "fast" | "immediate", awayMs: number): Promise<void> {
  await server.halt(how);
  await delay(awayMs);
  await server.resume();
}

/** One move, against the host that delivers; the instant is random. Returns its name. */
async function disturb(stage: Stage): Promise<string> {
  const { random, hosts } = stage;
  await delay(500 + random.below(3_000));
  const names = Object.keys(MOVES);
  const name = names[random.below(names.length)]!;
  const leader = (await isLeading(hosts[1])) ? hosts[1] : hosts[0];
  await MOVES[name]!(stage, leader);
  return name;
}

async function isLeading({ service }: Host): Promise<boolean> {
  const answer = await fetch(`${service.adminUrl}/metrics`).catch(() => null);
  return /^opsctl_webhook_leader 1$/m.test((await answer?.text()) ?? "");
}

/** Names that were answered with 200, kept or sent from memory, and how often each was posted. */
type Posted = { answered: string[]; fromMemory: number; times: Map<string, number> };
type Posting = { isOver: boolean; ended: Promise<Posted> };

function sendAll(stage: Stage): Posting {
  const posted: Posted = { answered: [], fromMemory: 0, times: new Map() };
  const posting: Posting = { isOver: false, ended: Promise.resolve(posted) };
  const sender = async (number: number) => {
    for (let i = 0; !posting.isOver; i += 1) {
      await postUntilAccepted(stage, `alerta-${number}-${i}`, posted);
      await delay(stage.random.below(100));
    }
  };
  posting.ended = Promise.all([0, 1, 2].map(sender)).then(() => posted);
  return posting;
}

/** Posts to any host until one answers with 200; a sender repeats what was not. */
async function postUntilAccepted({ hosts, random }: Stage, name: string, posted: Posted): Promise<void> {
  const severity = SEVERITIES[random.below(3)];
  for (;;) {
    posted.times.set(name, (posted.times.get(name) ?? 0) + 1);
    const { url } = hosts[random.below(2)]!.service;
    const answer = await postAlerts(url, { alerts: [alertOf(name, severity)] }).catch(() => null);
    if (answer?.status === 200) {
      posted.answered.push(name);
      posted.fromMemory += (answer.json as { durable?: boolean }).durable === false ? 1 : 0;
      return;
    }
    await delay(100);
  }
}

function alertOf(name: string, severity = "warning") {
  const labels = { alertname: name, ruleGroup: "vps-infra", severity };
  return { status: "firing", fingerprint: name, labels };
}

async function expectAllSent(stage: Stage, { answered, times }: Posted): Promise<void> {
  await until(
    "every accepted alert is out",
    async () => {
      const known = new Set([
        ...timesSent(stage.arena.gateway.accepted).keys(),
        ...(await unknownNames(stage)),
      ]);
      return answered.every((name) => known.has(name)) && (await waiting(stage)) === 0;
    },
    200_000,
  );
  const sent = timesSent(stage.arena.gateway.accepted);
  for (const [name, posts] of times)
    expect([name, (sent.get(name) ?? 0) <= MOST_SENDS * posts]).toEqual([name, true]);
  const titles = stage.arena.tracker.issues.map(({ title }) => title);
  for (const name of answered.filter((one) => times.get(one) === 1))
    expect([name, titles.filter((title) => title.endsWith(` ${name}`)).length]).toEqual([name, 1]);
  await expectNoSecondIssue(stage, { answered, times });
}

/** What the hosts claimed apart, while they had no database, is known to both: no firing in the half hour makes an issue. */
async function expectNoSecondIssue(
  stage: Stage,
  { answered, times }: Omit<Posted, "fromMemory">,
): Promise<void> {
  const before = stage.arena.tracker.issues.length;
  for (const { service } of stage.hosts)
    for (const name of answered) {
      times.set(name, times.get(name)! + 1);
      const answer = await postAlerts(service.url, { alerts: [alertOf(name)] });
      expect([name, answer.status]).toEqual([name, 200]);
    }
  await until("every repetition is out", async () => (await waiting(stage)) === 0, 200_000);
  expect(stage.arena.tracker.issues.length).toBe(before);
}

async function waiting({ db: { sql } }: Stage): Promise<number> {
  const [row] = await sql`select count(*)::int as count from opsctl_state.outbox where state = 'queued'`;
  return row!.count;
}

async function unknownNames({ db: { sql } }: Stage): Promise<string[]> {
  const rows =
    await sql`select alert::json ->> 'name' as name from opsctl_state.outbox where state = 'unknown'`;
  return rows.map(({ name }) => name);
}

function damageOf(stage: Stage, { times, fromMemory }: Posted): Omit<HostDamage, "moves"> {
  const sent = timesSent(stage.arena.gateway.accepted);
  const copies = [...times].map(([name, posts]) => Math.max(0, (sent.get(name) ?? 0) - posts));
  return {
    alerts: times.size,
    doubled: copies.reduce((sum, more) => sum + more, 0),
    digests: stage.arena.gateway.accepted.filter(({ text }) => namesIn(text).size > 1).length,
    fromMemory,
  };
}
