/** The webhook with both of its channels in trouble, killed again and again, on a clock that runs faster. */
import { expect } from "bun:test";
import { setTimeout as delay } from "node:timers/promises";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { openPostgresStore } from "../../../lib/webhook/store/postgres/store.ts";
import { opsctl } from "../../e2e/support/opsctl.ts";
import { openWebhookArena, postAlerts, type WebhookArena } from "../../e2e/support/serve.ts";
import { type EmailProvider, startEmailProvider } from "../../standins/email-provider.ts";
import { freePort } from "../../support/free-port.ts";
import { sharedPostgres, type TestDatabase } from "../../support/postgres.ts";
import { silentLog } from "../../support/silent-log.ts";
import { until } from "../../support/until.ts";
import { type Random, randomFrom } from "../random.ts";
import { startWorker, type Worker } from "../worker.ts";
import { Hearing } from "./hearing.ts";
import { HASTE, hurriedNowMs } from "./hurried-clock.ts";
import { timesSent } from "./names-sent.ts";
import { makeTrouble, planTrouble } from "./trouble.ts";

/** What came of it. */
export type ChannelDamage = {
  alerts: number;
  kills: number;
  emails: number;
  firstByEmail: number;
  unknown: number;
  slowestSeconds: number;
};

/** After so many sends without a clear answer a row's result is unknown. */
const MOST_SENDS = 3;
const HEARD_WITHIN_MS = 4 * 60_000;
const SENDERS = 2;
const EMAIL_KEY = "re_canary_alert";
const PROGRAM = new URL("hurried-service.ts", import.meta.url).pathname;
/** As installed, but for the issues' pace. */
const SETTINGS = {
  host: "127.0.0.1",
  messagesPerMinute: 30,
  digestAfterSeconds: 120,
  issuesPerHour: 3_600_000,
};

type Stage = {
  arena: WebhookArena;
  email: EmailProvider;
  env: Record<string, string>;
  epochMs: number;
  random: Random;
  hearing: Hearing;
  service: { current: Serving };
  isOver: boolean;
};
type Serving = { worker: Worker; url: string; isLeading: boolean };

/**
 * Some twenty minutes of the service's clock with both channels in trouble and a kill every minute or two; then all
 * heals.
 *
 * Behaviour: fails unless every accepted alert is sent by WhatsApp or its result unknown, a critical one is heard within
 *            four minutes in which it could be, an unknown one by e-mail, none goes out more than three times for a post,
 *            and no e-mail goes out twice with another key.
 */
export async function troubleChannels(seed: number, state: "file" | "database"): Promise<ChannelDamage> {
  await using arena = await openWebhookArena();
  const email = await startEmailProvider({ apiKey: EMAIL_KEY });
  const epochMs = Date.now();
  for (const peer of [arena.gateway, email]) peer.now = () => new Date(hurriedNowMs(epochMs, Date.now()));
  const db = state === "database" ? await hurriedDatabase(epochMs) : null;
  Object.assign(arena.env, {
    ...(db === null ? {} : { OPSCTL_STATE_URL: db.url }),
    ALERT_EMAIL_TO: "ops@client.example",
    ALERT_EMAIL_FROM: "alarm@mail.example",
    ALERT_EMAIL_API_KEY: EMAIL_KEY,
    ALERT_EMAIL_API_URL: email.url,
  });
  const hearing = new Hearing({ gateway: arena.gateway, email });
  const service = { current: await start(arena.env, epochMs) };
  const stage: Stage = {
    ...{ arena, email, env: arena.env, epochMs, hearing, service },
    random: randomFrom(seed),
    isOver: false,
  };
  try {
    return await play(stage);
  } finally {
    stage.isOver = true;
    service.current.worker.kill("SIGKILL");
    await service.current.worker.ended;
    await email.stop();
    await db?.drop();
  }
}

async function play(stage: Stage): Promise<ChannelDamage> {
  const { random, hearing, email, service } = stage;
  const plan = planTrouble(random);
  const senders = Array.from({ length: SENDERS }, (_, number) => sendUntilOver(stage, number));
  const killing = killUntilOver(stage);
  const beganMs = performance.now();
  for (let atMs = 0; atMs < plan.totalMs; atMs = (performance.now() - beganMs) * HASTE) {
    const { isEmailWell } = makeTrouble(plan, atMs, { gateway: stage.arena.gateway, email });
    hearing.tick({ isServing: service.current.isLeading, isEmailWell });
    await delay(20);
  }
  stage.isOver = true;
  const posted = mergeAll(await Promise.all(senders));
  const kills = await killing;
  makeTrouble(plan, Number.POSITIVE_INFINITY, { gateway: stage.arena.gateway, email });
  const unknown = await expectAllSent(stage, posted);
  expectEmails(stage, posted, unknown);
  expect(hearing.slowestMs, "the longest time to the first channel").toBeLessThanOrEqual(HEARD_WITHIN_MS);
  service.current.worker.kill("SIGTERM");
  expect((await service.current.worker.ended).exitCode).toBe(0);
  const { firstByEmail, slowestMs } = hearing;
  return {
    alerts: posted.answered.length,
    kills,
    emails: email.accepted.length,
    firstByEmail,
    unknown: unknown.size,
    slowestSeconds: Math.round(slowestMs / 1_000),
  };
}

/** Names that were answered with 200, and how often each was posted. */
type Posted = { answered: string[]; times: Map<string, number> };

function mergeAll(all: Posted[]): Posted {
  return {
    answered: all.flatMap(({ answered }) => answered),
    times: new Map(all.flatMap(({ times }) => [...times])),
  };
}

/** Every other alert is critical: those whose last number is even. */
const isCritical = (name: string) => Number(name.split("-")[2]) % 2 === 0;

async function sendUntilOver(stage: Stage, sender: number): Promise<Posted> {
  const posted: Posted = { answered: [], times: new Map() };
  for (let i = 0; !stage.isOver; i += 1) {
    const name = `alerta-${sender}-${i}`;
    await postUntilAccepted(stage, name, posted);
    if (isCritical(name)) stage.hearing.accepted(name);
    await delay(stage.random.below(1_000));
  }
  return posted;
}

async function postUntilAccepted({ service }: Stage, name: string, posted: Posted): Promise<void> {
  const severity = isCritical(name) ? "critical" : "warning";
  const labels = { alertname: name, ruleGroup: "vps-infra", severity };
  const body = { alerts: [{ status: "firing", fingerprint: name, labels }] };
  for (;;) {
    posted.times.set(name, (posted.times.get(name) ?? 0) + 1);
    const answer = await postAlerts(service.current.url, body).catch(() => null);
    if (answer?.status === 200) return void posted.answered.push(name);
    await delay(50);
  }
}

/** Returns how often it was killed; the last one lives. */
async function killUntilOver(stage: Stage): Promise<number> {
  const { service, random, env, epochMs } = stage;
  for (let kills = 0; ; kills += 1) {
    const atMs = performance.now() + 3_000 + random.below(4_000);
    while (!stage.isOver && performance.now() < atMs) await delay(20);
    if (stage.isOver) return kills;
    service.current.isLeading = false;
    service.current.worker.kill("SIGKILL");
    await service.current.worker.ended;
    service.current = await start(env, epochMs);
  }
}

/** Starts the service; it has resolved when the service delivers. */
async function start(env: Record<string, string>, epochMs: number): Promise<Serving> {
  const [port, adminPort] = [await freePort(), await freePort()];
  const options = JSON.stringify({ ...SETTINGS, port, adminPort, epochMs });
  const worker = startWorker(process.execPath, [PROGRAM, options], env);
  let hasEnded = false;
  void worker.ended.then(() => {
    hasEnded = true;
  });
  const metrics = async () => {
    const answer = await fetch(`http://127.0.0.1:${adminPort}/metrics`).catch(() => null);
    return (await answer?.text()) ?? "";
  };
  await until(
    "the service delivers",
    async () => hasEnded || /^opsctl_webhook_leader 1$/m.test(await metrics()),
  );
  if (hasEnded) throw new Error(`The service ended: ${worker.log()}`);
  return { worker, url: `http://127.0.0.1:${port}/webhook`, isLeading: true };
}

/** Returns the names of those whose result stays unknown. */
async function expectAllSent(stage: Stage, { answered, times }: Posted): Promise<Set<string>> {
  const { gateway, tracker } = stage.arena;
  const sentSoFar = () => timesSent(gateway.accepted);
  const titles = () => tracker.issues.map(({ title }) => title);
  let unknown = new Set<string>();
  const missing = async () => {
    const sent = sentSoFar();
    const unsent = answered.filter((name) => !sent.has(name));
    if (unsent.length > 0) unknown = await unknownNames(stage);
    return { unsent: unsent.filter((name) => !unknown.has(name)), issues: answered.length - titles().length };
  };
  let left = await missing();
  await until(
    "every accepted alert is out",
    async () => {
      await delay(100);
      left = await missing();
      return left.unsent.length === 0 && left.issues <= 0;
    },
    120_000,
  ).catch(() => {});
  expect(left).toEqual({ unsent: [], issues: expect.any(Number) });
  const sent = sentSoFar();
  for (const [name, posts] of times)
    expect([name, (sent.get(name) ?? 0) <= MOST_SENDS * posts]).toEqual([name, true]);
  expect(new Set(titles()).size).toBe(titles().length);
  for (const name of answered) expect(titles().filter((title) => title.endsWith(` ${name}`))).toHaveLength(1);
  return unknown;
}

function expectEmails({ email }: Stage, { times }: Posted, unknown: Set<string>): void {
  const emailed = timesSent(email.accepted);
  for (const [name, count] of emailed) {
    // What may have been sent is e-mailed whatever its severity.
    expect([name, isCritical(name) || unknown.has(name)]).toEqual([name, true]);
    expect([name, count <= times.get(name)!]).toEqual([name, true]);
  }
  for (const name of unknown) expect([...emailed.keys()]).toContain(name);
  const contents = new Map<string, Set<string>>();
  for (const { headers, rawBody } of email.routes.send.calls) {
    const key = headers["idempotency-key"]!;
    // Of a call that was broken off unread no body is known.
    if (rawBody !== "") contents.set(key, (contents.get(key) ?? new Set()).add(rawBody));
  }
  for (const [key, bodies] of contents) expect([key, bodies.size]).toEqual([key, 1]);
}

async function unknownNames({ env }: Stage): Promise<Set<string>> {
  const { json } = await opsctl(["webhook", "dead", "list", "--json"], { env });
  const dead = json.dead as { status: string; kind: string; alertname: string }[];
  return new Set(dead.flatMap(({ status, alertname }) => (status === "unknown" ? [alertname] : [])));
}

/** A database whose clock for the state runs faster, too. */
async function hurriedDatabase(epochMs: number): Promise<TestDatabase> {
  const db = await (await sharedPostgres()).createDatabase({ migrated: false, appSchema: false });
  const url = new Secret(db.url);
  await (await openPostgresStore({ url, log: silentLog, applicationName: "chaos" })).close();
  await db.sql.unsafe(`
    create or replace function opsctl_state.now_ms() returns bigint language sql volatile set search_path = '' as $$
      select round(${epochMs} + (extract(epoch from clock_timestamp()) * 1000 - ${epochMs}) * ${HASTE})::bigint $$`);
  return db;
}
