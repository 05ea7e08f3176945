/** Commands that mend a week, killed at each of their steps and given again: nothing is sent, nothing is left over. */
import { expect } from "bun:test";
import { readLastRun } from "../../lib/last-run/read.ts";
import { until } from "../support/until.ts";
import { type Arena, openArena } from "./arena.ts";
import { closeGate, type WriteName } from "./gates.ts";
import type { Armed } from "./kill-points.ts";
import { expectEndAnnounced } from "./last-run.ts";
import { expectNothingLost, expectQuiet } from "./ledger.ts";

/** A step of a command, which works for the second of three owners. */
export type CommandKillPoint = {
  name: string;
  words: string[];
  /** Leaves something open, by a run. */
  open(arena: Arena): Promise<void>;
  arm(arena: Arena): Promise<Armed>;
  /** Whether a command that is killed at another point leaves the same rows. */
  isLikeAnother?: boolean;
};

const LOOK_UP = { words: ["deliveries", "look-up", "--all", "--settle"], open: leaveUnknown };
const REPAIR = { words: ["deliveries", "repair"], open: leaveWithoutEntry };

/** All of them. */
export const COMMAND_KILL_POINTS: CommandKillPoint[] = [
  {
    ...LOOK_UP,
    name: "look-up: the gateway is asked",
    arm: hangs(({ gateway }) => gateway.routes.messages),
    isLikeAnother: true,
  },
  {
    ...LOOK_UP,
    name: "look-up: the provider is asked",
    arm: hangs(({ email }) => email.routes.list),
    isLikeAnother: true,
  },
  ...write("look-up: the message is settled", LOOK_UP, "whatsapp_sent", { isBeforeAnother: true }),
  ...write("look-up: the timeline entry", LOOK_UP, "timeline_entry", { isBeforeAnother: true }),
  ...write("look-up: the e-mail is settled", LOOK_UP, "email_sent"),
  ...write("repair: the timeline entry", REPAIR, "timeline_entry"),
];

/** Kills a command at this point, and gives it again. */
export async function killCommandAt({ words, open, arm }: CommandKillPoint): Promise<void> {
  await using arena = await openArena({ owners: 3 });
  await open(arena);
  const sends = () => arena.gateway.routes.send.calls.length + arena.email.routes.send.calls.length;
  const sendsBefore = sends();
  const armed = await arm(arena);
  const worker = arena.startCommand(words);
  await armed.reached(worker);
  worker.kill("SIGKILL");
  expect((await worker.ended).signal).toBe("SIGKILL");
  await armed.afterKill();

  const again = await arena.startCommand(words).ended;
  expect(again.exitCode, again.stdout + again.stderr).toBe(0);
  expect(sends()).toBe(sendsBefore);
  const states = await expectNothingLost(arena);
  expect(states).toEqual({ "whatsapp sent": 3, "email sent": 3 });
  expectNothingOpen(arena);
  const next = await arena.runHere();
  expectQuiet(arena, next, states);
  expectEndAnnounced(arena, next);
  expect(sends()).toBe(sendsBefore);
}

/** The last-run file knows that nothing is open any more. */
function expectNothingOpen({ logDir }: Arena): void {
  const clean = { unknown: 0, partial: 0, failed: 0, running: 0, missing: 0 };
  expect(readLastRun(logDir)).toMatchObject({
    status: "found",
    run: { status: "failed", week: { whatsapp: clean, email: clean } },
  });
}

/** A run whose second message and second e-mail are taken and never confirmed. */
async function leaveUnknown(arena: Arena): Promise<void> {
  for (const { routes } of [arena.gateway, arena.email]) {
    const before = routes.send.calls.length;
    routes.send.script = () => (routes.send.calls.length - before === 2 ? { accept: "drop" } : undefined);
  }
  const { summary } = await arena.runHere();
  expect(summary).toMatchObject({ exitCode: 1, whatsapp: { unknown: 1 }, email: { unknown: 1 } });
  for (const { routes } of [arena.gateway, arena.email]) routes.send.script = null;
}

/** A run whose second message has no timeline entry. */
async function leaveWithoutEntry({ db: { sql }, owners, runHere }: Arena): Promise<void> {
  await sql.unsafe(
    `alter table timeline_entries add constraint not_for_one check (tenant_id <> '${owners[1]!.tenantId}')`,
  );
  expect((await runHere()).summary).toMatchObject({
    exitCode: 1,
    whatsapp: { partial: 1 },
  });
  await sql.unsafe("alter table timeline_entries drop constraint not_for_one");
}

function write(
  name: string,
  command: Pick<CommandKillPoint, "words" | "open">,
  gate: WriteName,
  { isBeforeAnother = false } = {},
): CommandKillPoint[] {
  const arm = (end: "refuse" | "open") => async (arena: Arena) => {
    const held = await closeGate(arena.db.sql, gate, arena.owners[1]!.tenantId);
    return { reached: held.reached, afterKill: held[end] };
  };
  return [
    { ...command, name: `${name}: before the write`, arm: arm("refuse") },
    { ...command, name: `${name}: after the write`, arm: arm("open"), isLikeAnother: isBeforeAnother },
  ];
}

type HangingRoute = (arena: Arena) => Arena["gateway"]["routes"]["messages"];

function hangs(routeOf: HangingRoute): CommandKillPoint["arm"] {
  return async (arena) => {
    const route = routeOf(arena);
    route.next("hang");
    const reached = () => until("the question reaches its peer", () => route.calls.length > 0);
    return { reached, afterKill: async () => {} };
  };
}
