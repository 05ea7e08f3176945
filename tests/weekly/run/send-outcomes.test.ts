/** One answer for each outcome that a send can have: what the ledger, the summary and the next run make of it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rateLimiter } from "../../../lib/platform/rate/rate-limiter.ts";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { evolutionClient } from "../../../lib/providers/evolution/client.ts";
import { resendClient } from "../../../lib/providers/resend/client.ts";
import type { SendOutcome } from "../../../lib/providers/send-outcome.ts";
import type { WeeklySummary } from "../../../lib/weekly/context/summary.ts";
import { limitMsFor, type PeerAnswer, playedBy } from "../../cases/answer-case.ts";
import { EMAIL_ANSWERS, emailError } from "../../cases/email-answers.ts";
import { SEND_ANSWERS } from "../../cases/gateway-answers.ts";
import type { Answer, LedgerEntry } from "../../standins/standin.ts";
import { CANARIES } from "../../support/canaries.ts";
import { type SeededOwner, seedOwner } from "../../support/seed.ts";
import { type DeliveryRow, deliveriesByOwner, isHeartbeatKept, plantHeartbeat } from "../support/ledger.ts";
import { recordingLog, type WeeklyFixture, weeklyFixture } from "../support/weekly-fixture.ts";

type Channel = "whatsapp" | "email";

/** What the service answers to each attempt of this owner's send, the last answer to all later ones. */
type Row = {
  name: string;
  answers: (PeerAnswer | "usual")[];
  status: string;
  code: string | null;
  sends: number;
};

/** A row for an answer that is given to every attempt: one that asks to wait is obeyed three times. */
function always({ name, answer, becomes }: { name: string; answer: PeerAnswer; becomes: SendOutcome }): Row {
  const code = becomes.status === "sent" ? null : becomes.code;
  const status = becomes.status === "throttled" ? "failed" : becomes.status;
  const sends = answer === "nobody_listens" ? 0 : becomes.status === "throttled" ? 4 : 1;
  return { name, answers: [answer], status, code, sends };
}

function inTurn(limited: (seconds: number) => Answer, code: string, lost: string): Row[] {
  const [soon, late] = [limited(2), limited(600)];
  const row = (name: string, answers: Row["answers"], end: [string, string | null], sends: number): Row => ({
    ...{ name, answers, sends },
    ...{ status: end[0], code: end[1] },
  });
  return [
    row("a 429 once, then accepted", [soon, "usual"], ["sent", null], 2),
    row("a 429, then closed", [soon, "drop"], ["unknown", lost], 2),
    row("a 429 that asks for longer than the claim lasts", [late, "usual"], ["failed", code], 1),
  ];
}

const ROWS: Record<Channel, Row[]> = {
  whatsapp: [
    ...playedBy("run", SEND_ANSWERS).map(always),
    ...inTurn(
      (seconds) => ({ status: 429, headers: { "retry-after": `${seconds}` } }),
      "gateway_http_429",
      "gateway_connection_lost",
    ),
  ],
  email: [
    ...playedBy("run", EMAIL_ANSWERS).map(always),
    ...inTurn(
      (seconds) => ({
        ...emailError(429, "rate_limit_exceeded"),
        headers: { "retry-after": `${seconds}` },
      }),
      "rate_limit_exceeded",
      "email_connection_lost",
    ),
  ],
};

const recipientOf = (channel: Channel, { phone, email }: SeededOwner) =>
  channel === "whatsapp" ? phone!.replace(/\D/g, "") : email!;

function recipientIn({ body }: LedgerEntry): string {
  const { number, to } = body as { number?: string; to?: string[] };
  return number ?? to![0]!;
}

/** Clients with a time limit and an address for each recipient. */
function clientsFor({ gateway, email }: WeeklyFixture, answersTo: (recipient: string) => Row["answers"]) {
  const optionsFor = (peer: { url: string }, recipient: string) => {
    const [answer = "usual"] = answersTo(recipient);
    const url = answer === "nobody_listens" ? "http://127.0.0.1:1" : peer.url;
    return { baseUrl: new URL(url), timeoutMs: answer === "usual" ? 60_000 : limitMsFor(answer) };
  };
  const adminKey = new Secret(CANARIES.GATEWAY_ADMIN_KEY);
  const apiKey = new Secret(CANARIES.EMAIL_API_KEY);
  const gatewayOf = (recipient: string) => evolutionClient({ ...optionsFor(gateway, recipient), adminKey });
  const providerOf = (recipient: string) => resendClient({ ...optionsFor(email, recipient), apiKey });
  type Gateway = ReturnType<typeof evolutionClient>;
  type Provider = ReturnType<typeof resendClient>;
  const sendText: Gateway["sendText"] = (message, signal) =>
    gatewayOf(message.number).sendText(message, signal);
  const sendEmail: Provider["sendEmail"] = (one, signal) => providerOf(one.to).sendEmail(one, signal);
  return {
    gateway: { checkInstance: gatewayOf("").checkInstance, sendText },
    emailProvider: { sendEmail },
  };
}

describe.each(["whatsapp", "email"] as const)("every kind of answer to a send by %s", (channel) => {
  const rows = ROWS[channel];
  const other = channel === "whatsapp" ? "email" : "whatsapp";
  const count = (status: string) => rows.filter((row) => row.status === status).length;
  const waitsMs: number[] = [];
  const owners = new Map<string, SeededOwner>();
  let weekly: WeeklyFixture;
  let summaries: [WeeklySummary, WeeklySummary];
  let ledgers: [Map<string, DeliveryRow>, Map<string, DeliveryRow>];
  let callsBefore: number;
  let said: string;

  beforeAll(async () => {
    weekly = await weeklyFixture();
    const answers = new Map<string, Row["answers"]>();
    for (const row of rows) {
      const owner = await seedOwner(weekly.db.sql, { networks: [] });
      owners.set(row.name, owner);
      answers.set(recipientOf(channel, owner), [...row.answers]);
    }
    const route = routeOf(weekly);
    route.scriptByBody = (entry) => {
      const list = answers.get(recipientIn(entry)) ?? ["usual"];
      const next = list.length > 1 ? list.shift()! : list[0]!;
      return next === "usual" || next === "nobody_listens" ? undefined : next;
    };
    plantHeartbeat(weekly);
    const log = recordingLog();
    const sleep = async (ms: number) => void waitsMs.push(ms);
    const clients = clientsFor(weekly, (recipient) => answers.get(recipient) ?? []);
    const first = await weekly.run(
      {},
      { log, sleep, emailRate: rateLimiter({ perSecond: null }), ...clients },
    );
    const afterFirst = await deliveriesByOwner(weekly, channel);
    callsBefore = route.calls.length;
    route.scriptByBody = null;
    summaries = [first, await weekly.run({}, { log })];
    ledgers = [afterFirst, await deliveriesByOwner(weekly, channel)];
    said = JSON.stringify([summaries, log.lines]);
  });
  afterAll(async () => await weekly[Symbol.asyncDispose]());

  const routeOf = ({ gateway, email }: WeeklyFixture) =>
    (channel === "whatsapp" ? gateway : email).routes.send;

  test.each(rows)("$name: $status, and sent again only when it failed", ({ name, status, code, sends }) => {
    const owner = owners.get(name)!;
    const [first, second] = ledgers.map((ledger) => ledger.get(owner.userId)!) as [DeliveryRow, DeliveryRow];
    expect(first).toMatchObject({ status, errorCode: code, attempts: 1, dispatched: true });
    expect(first.providerMessageId === null).toBe(status !== "sent");
    if (status === "failed") expect(second).toMatchObject({ status: "sent", attempts: 2 });
    else expect(second).toEqual(first);
    const isMine = (entry: LedgerEntry) => recipientIn(entry) === recipientOf(channel, owner);
    const [before, after] = [
      routeOf(weekly).calls.slice(0, callsBefore),
      routeOf(weekly).calls.slice(callsBefore),
    ];
    expect(before.filter(isMine)).toHaveLength(sends);
    expect(after.filter(isMine)).toHaveLength(status === "failed" ? 1 : 0);
    const named = summaries.map(({ failures }) =>
      failures.filter(({ deliveryId }) => deliveryId === first.id).map((failure) => failure.code),
    );
    const unknown = status === "unknown" ? ["delivery_unknown"] : [];
    expect(named).toEqual([code === null ? [] : [code], unknown]);
    // The e-mail provider knows a repetition by its key, and compares the bytes.
    const mine = routeOf(weekly).calls.filter(isMine);
    expect(new Set(mine.map(({ rawBody }) => rawBody)).size).toBe(mine.length === 0 ? 0 : 1);
    const keys = new Set(mine.map(({ headers }) => headers["idempotency-key"]));
    const key = channel === "email" ? `weekly-performance-email/${first.id}` : undefined;
    expect(keys).toEqual(new Set(mine.length === 0 ? [] : [key]));
  });

  test("each counter has its rows, the other channel is not touched by any of it, and the old heartbeat stays", async () => {
    const all = rows.length;
    const none = { sent: 0, reused: 0, failed: 0, partial: 0, unknown: 0, skipped: 0 };
    const failed = { exitCode: 1, heartbeat: "kept", status: "failed" };
    const [sent, lost, unknown] = [count("sent"), count("failed"), count("unknown")];
    expect(summaries[0]).toMatchObject({
      ...failed,
      reports: { scopes: all, completed: all, failed: 0 },
      [channel]: { ...none, sent, failed: lost, unknown },
      [other]: { ...none, sent: all },
    });
    expect(summaries[1]).toMatchObject({
      ...failed,
      [channel]: { ...none, sent: lost, reused: sent, unknown },
      [other]: { ...none, reused: all },
    });
    expect(isHeartbeatKept(weekly)).toBe(true);
    const [entries] = await weekly.db.sql`select count(*)::int as n from timeline_entries`;
    expect(entries!.n).toBe(channel === "whatsapp" ? all - unknown : all);
  });

  test("a send that is asked to wait waits that long, three times at most", () => {
    const limits = playedBy("run", channel === "whatsapp" ? SEND_ANSWERS : EMAIL_ANSWERS).flatMap(
      ({ becomes }) => (becomes.status === "throttled" ? [becomes.retryAfterMs] : []),
    );
    expect(limits.length).toBeGreaterThan(0);
    for (const ms of limits) expect(waitsMs.filter((waited) => waited === ms)).toHaveLength(3);
    expect(waitsMs.filter((ms) => ms === 2_000)).toHaveLength(2);
    expect(Math.max(...waitsMs)).toBeLessThan(600_000);
  });

  test("failures name step, code and ids; no output contains a number or an address", () => {
    const id = expect.any(String);
    const failure = { step: channel, code: id, tenantId: id, reportId: id, deliveryId: id };
    const named = Array.from({ length: count("failed") + count("unknown") }, () => failure);
    expect(summaries[0].failures).toEqual(named);
    for (const { phone } of owners.values()) expect(said).not.toContain(phone!.replace(/\D/g, "").slice(-9));
    expect(said).not.toContain("@");
  });
});

test("a corrected address under a key that the provider has seen with another body stays unknown", async () => {
  await using weekly = await weeklyFixture();
  const { db, email } = weekly;
  const owner = await seedOwner(db.sql, { networks: [] });
  email.routes.send.next(emailError(422, "validation_error"));
  expect((await weekly.run()).email.failed).toBe(1);
  await db.sql`update users set email = 'new@client.example' where id = ${owner.userId}`;
  email.routes.send.next(emailError(409, "invalid_idempotent_request"));
  expect((await weekly.run()).email.unknown).toBe(1);
  const [first, second] = email.routes.send.calls;
  expect(second!.headers["idempotency-key"]).toBe(first!.headers["idempotency-key"]!);
  expect((await weekly.run()).email).toMatchObject({ sent: 0, unknown: 1 });
  expect(email.routes.send.calls).toHaveLength(2);
});
