/** The webhook under fire: killed and started again while alerts arrive and its peers flap. */
import { expect } from "bun:test";
import { setTimeout as delay } from "node:timers/promises";
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
 * Shape:     returns how many messages went twice, for the log.
 * Behaviour: fails unless every alert that was answered with 200 has reached the gateway at least once, and every
 *            fingerprint of them has one issue.
 */
export async function killWebhookAtRandom({ seed, posts, kills }: Disturbance): Promise<{ doubled: number }> {
  const random = randomFrom(seed);
  await using arena = await openWebhookArena();
  let service = await start(arena);
  const url = () => service.url;
  flap(arena, random);
  const accepted: string[] = [];
  let left = posts;
  const sender = async () => {
    while (left > 0) {
      left -= 1;
      accepted.push(...(await postUntilAccepted(url, posts - left)));
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
  const isComplete = () => {
    const seen = new Set(sent());
    return accepted.every((name) => seen.has(name)) && arena.tracker.issues.length >= accepted.length;
  };
  await until("every accepted alert is out", isComplete, 100_000);
  const issues = arena.tracker.issues.map(({ title }) => title);
  expect(new Set(issues).size).toBe(issues.length);
  expect(new Set(arena.tracker.issues.map(({ id }) => id)).size).toBe(issues.length);
  service.kill("SIGTERM");
  expect((await service.ended).exitCode).toBe(0);
  return { doubled: sent().length - new Set(sent()).size };
}

function start(arena: WebhookArena): Promise<Serving> {
  return arena.start({ args: ["--messages-per-minute", "60000"] });
}

/** Names of the alerts of a post, once it was answered with 200; a sender repeats what was not. */
async function postUntilAccepted(url: () => string, number: number): Promise<string[]> {
  const names = Array.from({ length: ALERTS_PER_POST }, (_, i) => `alerta-${number}-${i}`);
  const alerts = names.map((name) => ({
    status: "firing",
    labels: { alertname: name, ruleGroup: "vps-infra", severity: "warning" },
    annotations: { summary: name },
    fingerprint: name,
  }));
  for (;;) {
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
