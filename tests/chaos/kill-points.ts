/** Where a run is killed: every numbered step of its flow, before and after each write, during and after each call. */

import { readLastRun } from "../../lib/last-run/read.ts";
import type { Route, Scripted } from "../standins/standin.ts";
import type { SeededOwner } from "../support/seed.ts";
import { until } from "../support/until.ts";
import type { Arena } from "./arena.ts";
import { closeClockAtVerdict, closeGate, closeTable, type Gate, type WriteName } from "./gates.ts";
import type { Worker } from "./worker.ts";

/** What became of a delivery in the end, and how often its peer took it. */
export type Fate = { status: "sent" | "unknown"; taken: 0 | 1 };

/**
 * A point of the run flow, for the second of three owners, one at a time.
 *
 * Shape: `arm` makes the first run stop there; `whatsapp` and `email` are what becomes of the deliveries, sent when
 *        left out. A `hurried` run waits a hundred times as fast.
 */
export type KillPoint = {
  name: string;
  arm(arena: Arena, owner: SeededOwner): Promise<Armed>;
  whatsapp?: Fate;
  email?: Fate;
  editorials?: boolean;
  hurried?: boolean;
  /** Whether `weekly/run/crashes.test.ts` leaves a run at this step, in a process that lives on. */
  isInCrashes?: boolean;
  /** Whether a run that is killed at another point leaves the same rows. */
  isLikeAnother?: boolean;
};

/** `reached` waits until the run has stopped there; `afterKill` undoes what held it. */
export type Armed = { reached(worker: Worker): Promise<void>; afterKill(): Promise<void> };

const UNKNOWN: Fate = { status: "unknown", taken: 1 };
const NEVER_TAKEN: Fate = { status: "unknown", taken: 0 };

const IN_CRASHES = { isInCrashes: true };
/** A write that fails a delivery or a report: before it, the rows are those of a call that has had no answer. */
const BEFORE_LIKE_A_CALL = { isLikeAnother: { before: true } };

/** All points, in the order of the run flow; the numbers are those of the requirement. */
export const KILL_POINTS: KillPoint[] = [
  { name: "0 the last-run file says that it goes on", arm: saysThatItRuns },
  { name: "0 the owners are being listed", arm: table("tenants"), isLikeAnother: true },
  ...write("1-2 the claim", "report_claimed", IN_CRASHES),
  { name: "3 the first analysis is running", arm: hangs(analysisRoute, 3), ...IN_CRASHES },
  { name: "3 the second analysis is running", arm: hangs(analysisRoute, 4), isLikeAnother: true },
  {
    name: "4 the second analysis is running, the first has failed",
    arm: hangs(analysisRoute, 4, { 3: { status: 500 } }),
  },
  ...write("4 the application is away, and the owner is put back", "report_failed", {
    break: ({ application }) => plan(application.routes.analysis, { 3: { status: 503 } }),
    // As a run that waits.
    isLikeAnother: { after: true },
  }),
  { name: "4 the run waits for the application", arm: waits },
  { name: "4 a probe is on its way", arm: hangs(analysisRoute, 7, awayFor(6)), hurried: true },
  { name: "4 a refusal is being confirmed", arm: hangs(analysisRoute, 2, { 1: { status: 401 } }) },
  { name: "4 the second pass asks again", arm: hangs(analysisRoute, 7, { 3: { status: 503 } }) },
  ...write("4 the second pass makes the report", "report_completed", {
    break: ({ application }) => plan(application.routes.analysis, { 3: { status: 503 } }),
    ...BEFORE_LIKE_A_CALL,
  }),
  { name: "5 the evidence is being read", arm: table("resend_email_sends"), ...IN_CRASHES },
  ...write("6 the persisting", "report_completed"),
  ...write("7-8 the WhatsApp claim", "whatsapp_claimed", IN_CRASHES),
  {
    name: "8 the gateway is asked for its state",
    arm: hangs(({ gateway }) => gateway.routes.state, 2),
    isLikeAnother: true,
  },
  ...write("9 the WhatsApp dispatch", "whatsapp_dispatched", { after: { whatsapp: NEVER_TAKEN } }),
  {
    name: "9 the gateway has not read the message",
    arm: hangs(textRoute, 2),
    whatsapp: NEVER_TAKEN,
  },
  {
    name: "9 the gateway has taken the message",
    arm: takesAndHangs("gateway"),
    whatsapp: UNKNOWN,
  },
  ...write("9 the timeline entry", "timeline_entry", { before: { whatsapp: UNKNOWN } }),
  ...write("9 the WhatsApp confirmation", "whatsapp_sent", { before: { whatsapp: UNKNOWN }, ...IN_CRASHES }),
  // One statement with the WhatsApp confirmation: neither has taken place.
  ...write("10 the e-mail claim", "email_claimed", { before: { whatsapp: UNKNOWN }, ...IN_CRASHES }),
  ...write("10 the e-mail dispatch", "email_dispatched", { after: { email: NEVER_TAKEN }, ...IN_CRASHES }),
  { name: "11 the provider has not read the e-mail", arm: hangs(mailRoute, 2), email: NEVER_TAKEN },
  {
    name: "11 the provider has taken the e-mail",
    arm: takesAndHangs("email"),
    email: UNKNOWN,
    ...IN_CRASHES,
  },
  ...write("11 the e-mail confirmation", "email_sent", { before: { email: UNKNOWN }, ...IN_CRASHES }),
  ...write("12 the phone is missing, and the delivery fails", "whatsapp_failed", {
    break: removePhone,
    ...BEFORE_LIKE_A_CALL,
  }),
  ...write("12 the gateway refuses, and the delivery fails", "whatsapp_failed", {
    break: (arena, { phone }) => {
      const number = phone!.replace(/\D/g, "");
      arena.gateway.absentNumbers.add(number);
      return () => void arena.gateway.absentNumbers.delete(number);
    },
    before: { whatsapp: NEVER_TAKEN },
    ...BEFORE_LIKE_A_CALL,
  }),
  ...write("12 the gateway drops the connection, and the delivery is unknown", "whatsapp_unknown", {
    break: ({ gateway }) => plan(gateway.routes.send, { 2: { accept: "drop" } }),
    before: { whatsapp: UNKNOWN },
    after: { whatsapp: UNKNOWN },
    ...BEFORE_LIKE_A_CALL,
  }),
  ...write("12 the provider refuses, and the delivery fails", "email_failed", {
    break: ({ email }) => plan(email.routes.send, { 2: { status: 422 } }),
    before: { email: NEVER_TAKEN },
    ...BEFORE_LIKE_A_CALL,
  }),
  ...write("12 the provider answers 500, and the delivery is unknown", "email_unknown", {
    break: ({ email }) => plan(email.routes.send, { 2: { accept: { status: 500 } } }),
    before: { email: UNKNOWN },
    after: { email: UNKNOWN },
    ...BEFORE_LIKE_A_CALL,
  }),
  {
    name: "13 the first editorial call is running",
    arm: hangs(editorialRoute, 1),
    editorials: true,
    isLikeAnother: true,
  },
  { name: "14 the second editorial call is running", arm: hangs(editorialRoute, 2), editorials: true },
  { name: "15 the verdict is being reached", arm: verdict, editorials: true },
  { name: "15 the failure is recorded, the webhook has not read it", arm: announces("failure", "hang") },
  { name: "15 the webhook has taken the failure", arm: announces("failure", { accept: "hang" }) },
  { name: "15 the success is recorded, the webhook has not read it", arm: announces("success", "hang") },
  { name: "15 the webhook has taken the success", arm: announces("success", { accept: "hang" }) },
];

type Fates = { whatsapp?: Fate; email?: Fate };
type Mend = () => Promise<unknown> | unknown;
type Break = (arena: Arena, owner: SeededOwner) => Promise<Mend> | Mend;

/** Two points at one write: killed before it happened, and after it happened but before the run knew. */
function write(
  name: string,
  gate: WriteName,
  options: {
    before?: Fates;
    after?: Fates;
    break?: Break;
    isInCrashes?: boolean;
    isLikeAnother?: { before?: boolean; after?: boolean };
  } = {},
): KillPoint[] {
  const armed = (end: (gate: Gate) => Promise<void>): KillPoint["arm"] => {
    return async (arena, owner) => {
      const mend = await options.break?.(arena, owner);
      const held = await closeGate(arena.db.sql, gate, owner.tenantId);
      const afterKill = async () => {
        await end(held);
        await mend?.();
      };
      return { reached: held.reached, afterKill };
    };
  };
  const { isInCrashes = false, isLikeAnother = {} } = options;
  return [
    {
      name: `${name}: before the write`,
      arm: armed((held) => held.refuse()),
      ...options.before,
      isInCrashes,
      isLikeAnother: isLikeAnother.before ?? false,
    },
    {
      name: `${name}: after the write`,
      arm: armed((held) => held.open()),
      ...options.after,
      isInCrashes,
      isLikeAnother: isLikeAnother.after ?? false,
    },
  ];
}

function table(name: string): KillPoint["arm"] {
  return async ({ db }) => {
    const held = await closeTable(db.sql, name);
    return { reached: held.reached, afterKill: held.refuse };
  };
}

async function verdict({ db }: Arena): Promise<Armed> {
  const held = await closeClockAtVerdict(db.sql);
  return { reached: held.reached, afterKill: held.refuse };
}

/** All calls fail until the run says that it waits. */
async function waits({ application }: Arena): Promise<Armed> {
  const { analysis } = application.routes;
  analysis.script = () => ({ status: 503 });
  const afterKill = async () => {
    analysis.script = null;
  };
  const reached = ({ log }: Worker) => until("the run waits", () => log().includes("the run waits"));
  return { reached, afterKill };
}

/** The first calls fail. */
function awayFor(calls: number): Record<number, Scripted> {
  return Object.fromEntries(Array.from({ length: calls }, (_, i) => [i + 1, { status: 503 }]));
}

async function saysThatItRuns({ logDir }: Arena): Promise<Armed> {
  const isThere = () => {
    const reading = readLastRun(logDir);
    return reading.status === "found" && reading.run.status === "running";
  };
  return { reached: () => until("the last-run file", isThere), afterKill: async () => {} };
}

/** The end of the run is posted to a webhook that never answers; for a success, after a run that has failed. */
function announces(end: "failure" | "success", scripted: Scripted): KillPoint["arm"] {
  return async (arena) => {
    const { email, alerts } = arena;
    const mend = plan(email.routes.send, { 2: { status: 422 } });
    if (end === "success") {
      await arena.runHere();
      await mend();
    }
    const before = alerts.routes.post.calls.length;
    alerts.routes.post.next(scripted);
    const reached = () => until("the alert", () => isTaken(alerts, { before, scripted }));
    return { reached, afterKill: async () => void (await mend()) };
  };
}

function isTaken(
  { routes, heard }: Arena["alerts"],
  { before, scripted }: { before: number; scripted: Scripted },
): boolean {
  return typeof scripted === "object" ? heard.length > before : routes.post.calls.length > before;
}

async function removePhone({ db }: Arena, { userId, phone }: SeededOwner): Promise<Mend> {
  await db.sql`update users set phone = null where id = ${userId}`;
  return async () => await db.sql`update users set phone = ${phone} where id = ${userId}`;
}

function analysisRoute({ application }: Arena): Route {
  return application.routes.analysis;
}

function editorialRoute({ application }: Arena): Route {
  application.editorials.push({ truncated: true, nextCursor: "a", llmCalls: 3, failures: [] });
  return application.routes.editorial;
}

function textRoute({ gateway }: Arena): Route {
  return gateway.routes.send;
}

function mailRoute({ email }: Arena): Route {
  return email.routes.send;
}

/** Scripts single calls of a route by their number, counted from now. */
function plan(route: Route, scripted: Record<number, Scripted>): Mend {
  const before = route.calls.length;
  route.script = () => scripted[route.calls.length - before];
  return () => {
    route.script = null;
  };
}

/** The n-th call of a route is never answered. */
function hangs(
  routeOf: (arena: Arena) => Route,
  n: number,
  earlier: Record<number, Scripted> = {},
): KillPoint["arm"] {
  return async (arena) => {
    const route = routeOf(arena);
    const mend = plan(route, { ...earlier, [n]: "hang" });
    const reached = () => until("the call reaches its peer", () => route.calls.length >= n);
    return { reached, afterKill: async () => void mend() };
  };
}

/** The second message is taken and never answered. */
function takesAndHangs(name: "gateway" | "email"): KillPoint["arm"] {
  return async (arena) => {
    const { routes, accepted } = arena[name];
    const mend = plan(routes.send, { 2: { accept: "hang" } });
    const reached = () => until(`${name} takes the message`, () => accepted.length >= 2);
    return { reached, afterKill: async () => void mend() };
  };
}
