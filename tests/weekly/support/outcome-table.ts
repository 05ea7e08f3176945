/** A table of provider answers, one owner per row, all of them played in one run and followed by a healthy one. */
import { expect } from "bun:test";
import { randomUUID } from "node:crypto";
import { noPace } from "../../../lib/platform/rate/pace.ts";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { evolutionClient } from "../../../lib/providers/evolution/client.ts";
import { resendClient } from "../../../lib/providers/resend/client.ts";
import type { WeeklySummary } from "../../../lib/weekly/context/summary.ts";
import { givenUp } from "../../standins/given-up.ts";
import { refusedPort } from "../../standins/raw-peer.ts";
import type { LedgerEntry, Scripted } from "../../standins/standin.ts";
import { type SeededOwner, seedOwner } from "../../support/seed.ts";
import { type DeliveryRow, deliveriesByOwner, isHeartbeatKept, plantHeartbeat } from "./ledger.ts";
import { recordingLog, SECRETS, type WeeklyFixture } from "./weekly-fixture.ts";

/** What the peer does with each call of this owner's send; the last one stays. */
export type Played = (Scripted | "usual" | "refused")[];

/** The state that the row must end in, and how many sends the peer sees in the first run. */
export type Expected = { status: "sent" | "failed" | "unknown"; code: string | null; sends: number };

/** One row of the table. */
export type OutcomeRow = [name: string, played: Played, expected: Expected];

/** The result of one row. */
export type Outcome = {
  owner: SeededOwner;
  first: DeliveryRow;
  second: DeliveryRow;
  firstCalls: LedgerEntry[];
  secondCalls: LedgerEntry[];
};

/** The result of the whole table. */
export type PlayedTable = {
  outcomes: Map<string, Outcome>;
  first: WeeklySummary;
  second: WeeklySummary;
  waitsMs: number[];
  heartbeatKept: boolean;
  /** All output of the runs, to be searched for what must not be in it. */
  said: string;
};

const WAITING: unknown[] = ["hang", "stall_body"];

/** Plays the table on one channel. */
export async function playOutcomes(
  weekly: WeeklyFixture,
  channel: "whatsapp" | "email",
  rows: OutcomeRow[],
): Promise<PlayedTable> {
  const owners = new Map<string, SeededOwner>();
  const played = new Map<string, Played>();
  for (const [at, [name, script]] of spread(rows).entries()) {
    // The run takes owners by their tenant's id.
    const tenantId = randomUUID().replace(/^.{8}/, String(at).padStart(8, "0"));
    const owner = await seedOwner(weekly.db.sql, { tenantId });
    owners.set(name, owner);
    played.set(recipientOf(channel, owner), [...script]);
  }
  const route = channel === "whatsapp" ? weekly.gateway.routes.send : weekly.email.routes.send;
  route.scriptByBody = (entry) => {
    const script = played.get(recipientIn(channel, entry)) ?? [];
    const next = script.length > 1 ? script.shift() : script[0];
    return next === "usual" || next === "refused" ? undefined : next;
  };
  plantHeartbeat(weekly);
  const log = recordingLog();
  const waitsMs: number[] = [];
  const dependencies = {
    log,
    emailPace: noPace,
    sleep: async (ms: number) => void waitsMs.push(ms),
    ...(await impatientClients(weekly, channel, played)),
  };
  const first = await weekly.run({}, dependencies);
  const firstRows = await deliveriesByOwner(weekly, channel);
  const firstCalls = [...route.calls];
  route.scriptByBody = null;
  const second = await weekly.run({}, { log });
  const secondRows = await deliveriesByOwner(weekly, channel);
  const heartbeatKept = isHeartbeatKept(weekly);

  const outcomes = new Map<string, Outcome>();
  for (const [name, owner] of owners) {
    const mine = route.calls.filter((entry) => recipientIn(channel, entry) === recipientOf(channel, owner));
    outcomes.set(name, {
      owner,
      first: firstRows.get(owner.userId)!,
      second: secondRows.get(owner.userId)!,
      firstCalls: mine.filter((entry) => firstCalls.includes(entry)),
      secondCalls: mine.filter((entry) => !firstCalls.includes(entry)),
    });
  }
  return {
    outcomes,
    first,
    second,
    waitsMs,
    heartbeatKept,
    said: JSON.stringify([first, second, log.lines]),
  };
}

/** The healthy run sends what had failed, and nothing else. */
export function expectOutcome(
  { first, second, firstCalls, secondCalls }: Outcome,
  { status, code, sends }: Expected,
): void {
  expect(first).toMatchObject({ status, errorCode: code, attempts: 1, dispatched: true });
  expect(first.providerMessageId === null).toBe(status !== "sent");
  expect(firstCalls).toHaveLength(sends);
  if (status === "failed") expect(second).toMatchObject({ status: "sent", attempts: 2 });
  else expect(second).toEqual(first);
  expect(secondCalls).toHaveLength(status === "failed" ? 1 : 0);
}

/** Each counter of the channel has its rows, the other channel sent all at once, and the old heartbeat stays. */
export function expectCounters(
  { first, second, heartbeatKept }: PlayedTable,
  channel: "whatsapp" | "email",
  rows: OutcomeRow[],
): void {
  const count = (status: string) => rows.filter(([, , expected]) => expected.status === status).length;
  const all = rows.length;
  const none = { reused: 0, failed: 0, partial: 0, unknown: 0, skipped: 0 };
  const other = channel === "email" ? "whatsapp" : "email";
  expect(first).toMatchObject({
    status: "failed",
    exitCode: 1,
    heartbeat: "kept",
    error: null,
    reports: { scopes: all, completed: all, failed: 0 },
    [channel]: { ...none, sent: count("sent"), failed: count("failed"), unknown: count("unknown") },
    [other]: { ...none, sent: all },
  });
  expect(second).toMatchObject({
    exitCode: 1,
    heartbeat: "kept",
    [channel]: { ...none, sent: count("failed"), reused: count("sent"), unknown: count("unknown") },
    [other]: { ...none, sent: 0, reused: all },
  });
  expect(heartbeatKept).toBe(true);
}

/** The rows with a clear answer after every few of the others: ten doubts in a row would stop the channel. */
function spread(rows: OutcomeRow[]): OutcomeRow[] {
  const isClear = ([, , { status, sends }]: OutcomeRow) =>
    status === "sent" || (status === "failed" && sends === 1);
  const clear = rows.filter(isClear);
  const others = rows.filter((row) => !isClear(row));
  const place = (index: number, count: number) => (index + 0.5) / count;
  return [
    ...clear.map((row, index) => ({ row, at: place(index, clear.length) })),
    ...others.map((row, index) => ({ row, at: place(index, others.length) })),
  ]
    .sort((one, other) => one.at - other.at)
    .map(({ row }) => row);
}

function recipientOf(channel: "whatsapp" | "email", owner: SeededOwner): string {
  return channel === "whatsapp" ? owner.phone!.replace(/\D/g, "") : owner.email!;
}

function recipientIn(channel: "whatsapp" | "email", entry: LedgerEntry): string {
  const body = entry.body as { number?: string; to?: string[] } | undefined;
  if (body !== undefined) return channel === "whatsapp" ? body.number! : body.to![0]!;
  return "";
}

async function impatientClients(weekly: WeeklyFixture, channel: string, played: Map<string, Played>) {
  const nowhere = `http://127.0.0.1:${await refusedPort()}`;
  const way = (recipient: string) => {
    const script = played.get(recipient) ?? [];
    if (script.includes("refused")) return "nowhere";
    const waits = script.some((s) => WAITING.includes(typeof s === "object" && "accept" in s ? s.accept : s));
    return waits ? "impatient" : "usual";
  };
  if (channel === "whatsapp") {
    const adminKey = new Secret(SECRETS.GATEWAY_ADMIN_KEY);
    const at = (url: string, limit: { timeoutMs?: number } = {}) =>
      evolutionClient({ baseUrl: new URL(url), adminKey, ...limit });
    const ways = { usual: at(weekly.gateway.url), nowhere: at(nowhere) };
    const sendText: typeof ways.usual.sendText = (message, signal) => {
      const which = way(message.number);
      if (which !== "impatient") return ways[which].sendText(message, signal);
      return givenUp(weekly.gateway, (timeoutMs) =>
        at(weekly.gateway.url, { timeoutMs }).sendText(message, signal),
      );
    };
    return { gateway: { checkInstance: ways.usual.checkInstance, sendText } };
  }
  const apiKey = new Secret(SECRETS.EMAIL_API_KEY);
  const at = (url: string, limit: { timeoutMs?: number } = {}) =>
    resendClient({ baseUrl: new URL(url), apiKey, ...limit });
  const ways = { usual: at(weekly.email.url), nowhere: at(nowhere) };
  const sendEmail: typeof ways.usual.sendEmail = (email, signal) => {
    const which = way(email.to);
    if (which !== "impatient") return ways[which].sendEmail(email, signal);
    return givenUp(weekly.email, (timeoutMs) => at(weekly.email.url, { timeoutMs }).sendEmail(email, signal));
  };
  return { emailProvider: { sendEmail } };
}
