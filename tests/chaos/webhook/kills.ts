/** The webhook under fire: killed and started again while alerts arrive and its peers flap. */
import { expect } from "bun:test";
import { setTimeout as delay } from "node:timers/promises";
import { opsctl } from "../../e2e/support/opsctl.ts";
import { openWebhookArena, postAlerts, type Serving, type WebhookArena } from "../../e2e/support/serve.ts";
import type { Scripted } from "../../standins/standin.ts";
import { type SmallDisk, smallDisk } from "../../support/small-disk.ts";
import { until } from "../../support/until.ts";
import { type Random, randomFrom } from "../random.ts";
import { namesIn, timesSent } from "./names-sent.ts";

/**
 * How a test disturbs the service.
 *
 * Shape: `digests`: so slow a pace that most alerts go out together; `fullDisk`: the state lies on a disk of its
 *        own that is full all the time, until everything heals.
 */
export type Disturbance = {
  seed: number;
  posts: number;
  kills: number;
  digests?: boolean;
  fullDisk?: boolean;
};

/** What came of it; `digests` counts messages with several alerts. */
export type Damage = { doubled: number; digests: number; fromMemory: number };

const ALERTS_PER_POST = 3;
const SENDERS = 4;
/** After so many sends without a clear answer a row's result is unknown. */
const MOST_SENDS = 3;
const QUICK = ["--messages-per-minute", "60000"];
const TOGETHER = ["--messages-per-minute", "600", "--digest-after", "1"];
/** Room for a new state and its reserve, and for nothing else once it is filled. */
const DISK_MIB = 80;
const LEAST_RESERVE_BYTES = 8 * 2 ** 20;

/**
 * Posts alerts from several senders while the service is killed at random; then lets everything heal.
 *
 * Shape:     `doubled` is how many messages went out more often than their alert was posted.
 * Behaviour: fails unless every alert that was answered with 200 has reached the gateway at least once, or is kept as
 *            one that may have, no row was sent more than three times, and every fingerprint of those kept has one
 *            issue.
 */
export async function killWebhookAtRandom(disturbance: Disturbance): Promise<Damage> {
  const { seed, posts, fullDisk = false } = disturbance;
  const disk = fullDisk ? smallDisk(DISK_MIB) : null;
  await using arena = await openWebhookArena();
  if (disk !== null) arena.env.OPSCTL_STATE_DIR = disk.directory;
  try {
    const random = randomFrom(seed);
    const service = { current: await start(arena, disturbance) };
    if (disk !== null) await fillOnceReserved(disk, service.current);
    flap(arena, random);
    const posting = sendAll(() => service.current.url, posts);
    await killWhile(arena, { disturbance, random, service, posting });
    const posted = await posting.ended;
    disk?.empty();
    heal(arena);
    await expectAllSent(arena, posted, !fullDisk);
    service.current.kill("SIGTERM");
    expect((await service.current.ended).exitCode).toBe(0);
    return damageOf(arena, posted);
  } finally {
    disk?.remove();
  }
}

/** A service that has just begun on an empty disk makes its reserve first. */
async function fillOnceReserved(disk: SmallDisk, { adminUrl }: Serving): Promise<void> {
  const reserved = async () =>
    Number(
      /^opsctl_webhook_reserve_bytes (.+)$/m.exec(await (await fetch(`${adminUrl}/metrics`)).text())?.[1],
    );
  await until("the state has a reserve", async () => (await reserved()) >= LEAST_RESERVE_BYTES);
  disk.fill();
}

/** What the senders know: names that were answered with 200, kept or sent from memory, and how often each was sent. */
type Posted = { kept: string[]; fromMemory: string[]; times: Map<string, number> };

type Posting = { isOver: boolean; ended: Promise<Posted> };

function sendAll(url: () => string, posts: number): Posting {
  const posted: Posted = { kept: [], fromMemory: [], times: new Map() };
  let left = posts;
  const sender = async () => {
    while (left > 0) {
      left -= 1;
      await postUntilAccepted(url, posts - left, posted);
    }
  };
  const posting: Posting = { isOver: false, ended: Promise.resolve(posted) };
  posting.ended = Promise.all(Array.from({ length: SENDERS }, sender)).then(() => {
    posting.isOver = true;
    return posted;
  });
  return posting;
}

type Killing = { disturbance: Disturbance; random: Random; service: { current: Serving }; posting: Posting };

async function killWhile(arena: WebhookArena, { disturbance, random, service, posting }: Killing) {
  for (let i = 0; i < disturbance.kills && !posting.isOver; i += 1) {
    // The instant itself is what is random here: nothing is waited for.
    await delay(20 + random.below(250));
    service.current.kill("SIGKILL");
    await service.current.ended;
    service.current = await start(arena, disturbance);
  }
}

/** `isKept` is false where alerts are also sent from memory: a post that a kill left unanswered may have its issue. */
async function expectAllSent(arena: WebhookArena, posted: Posted, isKept: boolean): Promise<void> {
  const accepted = [...posted.kept, ...posted.fromMemory];
  const titles = () => arena.tracker.issues.map(({ title }) => title);
  const hasIssue = (name: string) => titles().some((title) => title.endsWith(` ${name}`));
  await until(
    "every accepted alert is out",
    async () => {
      const seen = new Set([...timesSent(arena.gateway.accepted).keys(), ...(await unknownNames(arena))]);
      return accepted.every((name) => seen.has(name)) && posted.kept.every(hasIssue);
    },
    100_000,
  );
  if (isKept) expect(new Set(titles()).size).toBe(titles().length);
  expect(new Set(arena.tracker.issues.map(({ id }) => id)).size).toBe(titles().length);
  // A post without an answer may have been kept: its repetition is another row.
  const sent = timesSent(arena.gateway.accepted);
  for (const [name, times] of posted.times)
    expect([name, (sent.get(name) ?? 0) <= MOST_SENDS * times]).toEqual([name, true]);
}

function damageOf(arena: WebhookArena, { times, fromMemory }: Posted): Damage {
  const sent = timesSent(arena.gateway.accepted);
  const copies = [...times].map(([name, posted]) => Math.max(0, (sent.get(name) ?? 0) - posted));
  return {
    doubled: copies.reduce((sum, more) => sum + more, 0),
    digests: arena.gateway.accepted.filter(({ text }) => namesIn(text).size > 1).length,
    fromMemory: fromMemory.length,
  };
}

function start(arena: WebhookArena, { digests = false }: Disturbance): Promise<Serving> {
  return arena.start({ args: [...(digests ? TOGETHER : QUICK), "--issues-per-hour", "3600000"] });
}

/** The alerts that the gateway may have been sent: each time the connection broke off, or the service was killed. */
async function unknownNames(arena: WebhookArena): Promise<string[]> {
  const { json } = await opsctl(["webhook", "dead", "list", "--json"], { env: arena.env });
  const dead = json.dead as { status: string; kind: string; alertname: string }[];
  return dead.flatMap(({ status, alertname }) => (status === "unknown" ? [alertname] : []));
}

/** Posts until it is answered with 200; a sender repeats what was not. */
async function postUntilAccepted(url: () => string, number: number, posted: Posted): Promise<void> {
  const names = Array.from({ length: ALERTS_PER_POST }, (_, i) => `alerta-${number}-${i}`);
  const alerts = names.map((name) => ({
    status: "firing",
    labels: { alertname: name, ruleGroup: "vps-infra", severity: "warning" },
    annotations: { summary: name, description: "x".repeat(1_000) },
    fingerprint: name,
  }));
  for (;;) {
    for (const name of names) posted.times.set(name, (posted.times.get(name) ?? 0) + 1);
    const answer = await postAlerts(url(), { alerts }).catch(() => null);
    if (answer?.status === 200) {
      const isKept = (answer.json as { durable?: boolean }).durable !== false;
      return void (isKept ? posted.kept : posted.fromMemory).push(...names);
    }
    await delay(5);
  }
}

const FAULTS: (Scripted | undefined)[] = [
  "drop_unread",
  { accept: "drop" },
  { status: 502, text: "Bad Gateway" },
  undefined,
];

function flap({ gateway, tracker }: WebhookArena, random: Random): void {
  const sometimes = () => (random.below(4) === 0 ? FAULTS[random.below(FAULTS.length)] : undefined);
  gateway.routes.send.script = sometimes;
  tracker.routes.graphql.script = sometimes;
}

function heal({ gateway, tracker }: WebhookArena): void {
  gateway.routes.send.script = null;
  tracker.routes.graphql.script = null;
}
