/** A process that uses the state of a directory; its first argument is its role. */
import { createInterface } from "node:readline";
import { OUTBOX_LIMITS } from "../../../lib/webhook/store/model.ts";
import { outboxOn } from "../../../lib/webhook/store/outbox.ts";
import { openSqliteDedup, openSqliteStore } from "../../../lib/webhook/store/sqlite/store.ts";
import { silentLog } from "../../support/silent-log.ts";
import { sampleAlert } from "./sample-alert.ts";

const [role, directory = ""] = process.argv.slice(2);
const options = { directory, nowMs: Date.now, log: silentLog };
const openState = async (reserve?: { rows: number; rowBytes: number }) =>
  outboxOn(await openSqliteStore({ ...options, ...(reserve && { reserve }) }), {
    ...{ limits: OUTBOX_LIMITS, comments: false, log: silentLog },
  });
const say = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

if (role === "accept") await acceptForEver();
if (role === "reserve") await acceptFromReserve();
if (role === "claim") await claimOnSignal();
if (role === "open") await openAndSay();

/** Prints the number of each alert as soon as it has been accepted. */
async function acceptForEver(): Promise<void> {
  const state = await openState();
  say(await state.lead());
  for (let at = 0; ; at += 1) {
    const [outcome] = await state.accept([[sampleAlert({ fingerprint: `f${at}` })]]);
    if (outcome && "accepted" in outcome) say(at);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Makes a reserve, waits for a line of input, and prints the row of each message as soon as it has been accepted. */
async function acceptFromReserve(): Promise<void> {
  const state = await openState({ rows: 16, rowBytes: 2 ** 18 });
  await state.prune();
  say("ready");
  await lines.next();
  for (let at = 0; ; at += 1) {
    const [outcome] = await state.accept([[sampleAlert({ fingerprint: `f${at}` })]]);
    if (outcome && "accepted" in outcome) say(outcome.accepted[0]?.messageRow);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Waits for a line of input, claims the same keys as its rivals, and prints those it was first for. */
async function claimOnSignal(): Promise<void> {
  const { dedup, close } = await openSqliteDedup(options);
  say("ready");
  await lines.next();
  const keys = Array.from({ length: 200 }, (_, index) => `key ${index}`);
  say(keys.filter((key) => dedup.claim(key, 60_000).status === "first"));
  close();
  process.exit(0);
}

/** Waits for a line of input, opens the state, prints how that went, and keeps it open until its input ends. */
async function openAndSay(): Promise<void> {
  say("ready");
  await lines.next();
  try {
    const state = await openState();
    await state.check();
    const { message } = await state.stats();
    const [outcome] = await state.accept([[sampleAlert({ fingerprint: `of ${process.pid}` })]]);
    say({
      quarantined: state.quarantined,
      queued: message.queued,
      isAccepted: outcome && "accepted" in outcome,
    });
    await lines.next();
    await state.close();
  } catch (error) {
    const { code, message } = error as { code?: unknown; message: string };
    say({ code, message });
  }
  process.exit(0);
}
