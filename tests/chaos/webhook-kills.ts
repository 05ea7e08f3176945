/** The webhook under fire: killed and started again while alerts arrive and its peers flap. */
import { expect } from "bun:test";
import { setTimeout as delay } from "node:timers/promises";
import { opsctl } from "../e2e/support/opsctl.ts";
import {
  openWebhookArena,
  postAlerts,
  type Serving,
  type WebhookArena,
} from "../e2e/support/webhook-process.ts";
import type { Scripted } from "../standins/standin.ts";
import { type Random, randomFrom } from "./random.ts";
import { until } from "./until.ts";

/** How a test disturbs the service. */
export type Disturbance = { seed: number; posts: number; kills: number };

const ALERTS_PER_POST = 3;
const SENDERS = 4;

/**
 * Posts alerts from several senders while the service is killed at random; then lets everything heal.
 *
 * Shape:     returns how many messages went out more often than their alert was posted.
 * Behaviour: fails unless every alert that was answered with 200 has reached the gateway at least once, or is kept as one
 *            that may have, and every fingerprint of them has one issue.
 */
export async function killWebhookAtRandom({ seed, posts, kills }: Disturbance): Promise<{ doubled: number }> {
  const random = randomFrom(seed);
  await using arena = await openWebhookArena();
  let service = await start(arena);
  const url = () => service.url;
  flap(arena, random);
  const accepted: string[] = [];
  const posted = new Map<string, number>();
  let left = posts;
  const sender = async () => {
    while (left > 0) {
      left -= 1;
      accepted.push(...(await postUntilAccepted(url, posts - left, posted)));
    }
  };
  let isOver = false;
  const senders = Promise.all(Array.from({ length: SENDERS }, sender)).then(() => {
    isOver = true;
  });
  for (let i = 0; i < kills && !isOver; i += 1) {
    // The instant itself is what is random here: nothing is waited for.
    await delay(20 + random.below(250));
    service.kill("SIGKILL");
    await service.ended;
    service = await start(arena);
  }
  await senders;
  heal(arena);

  const sent = () => arena.gateway.accepted.map(({ text }) => /alerta-\d+-\d+/.exec(text)![0]);
  const isComplete = async () => {
    if (arena.tracker.issues.length < accepted.length) return false;
    const seen = new Set([...sent(), ...(await inDoubt(arena))]);
    return accepted.every((name) => seen.has(name));
  };
  await until("every accepted alert is out", isComplete, 100_000);
  const issues = arena.tracker.issues.map(({ title }) => title);
  expect(new Set(issues).size).toBe(issues.length);
  expect(new Set(arena.tracker.issues.map(({ id }) => id)).size).toBe(issues.length);
  service.kill("SIGTERM");
  expect((await service.ended).exitCode).toBe(0);
  // A post without an answer may have been kept: its repetition is another alert.
  const copies = [...posted].map(([name, times]) => sent().filter((one) => one === name).length - times);
  return { doubled: copies.reduce((sum, more) => sum + Math.max(0, more), 0) };
}

function start(arena: WebhookArena): Promise<Serving> {
  return arena.start({ args: ["--messages-per-minute", "60000", "--issues-per-hour", "3600000"] });
}

/** The alerts that the gateway may have been sent: each time the connection broke off, or the service was killed. */
async function inDoubt(arena: WebhookArena): Promise<string[]> {
  const { json } = await opsctl(["webhook", "dead", "list", "--json"], { env: arena.env });
  const dead = json.dead as { status: string; kind: string; alertname: string }[];
  return dead.flatMap(({ status, alertname }) => (status === "in_doubt" ? [alertname] : []));
}

/** Names of the alerts of a post, once it was answered with 200; a sender repeats what was not. */
async function postUntilAccepted(
  url: () => string,
  number: number,
  posted: Map<string, number>,
): Promise<string[]> {
  const names = Array.from({ length: ALERTS_PER_POST }, (_, i) => `alerta-${number}-${i}`);
  const alerts = names.map((name) => ({
    status: "firing",
    labels: { alertname: name, ruleGroup: "vps-infra", severity: "warning" },
    annotations: { summary: name },
    fingerprint: name,
  }));
  for (;;) {
    for (const name of names) posted.set(name, (posted.get(name) ?? 0) + 1);
    const answer = await postAlerts(url(), { alerts }).catch(() => null);
    if (answer?.status === 200) return names;
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
