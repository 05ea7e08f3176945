/** Several processes on one state file. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OUTBOX_LIMITS } from "../../../../lib/webhook/store/model.ts";
import { outboxOn } from "../../../../lib/webhook/store/outbox.ts";
import { openSqliteStore } from "../../../../lib/webhook/store/sqlite/store.ts";
import { silentLog } from "../../../support/silent-log.ts";
import { dueIds } from "../../support/state-fixture.ts";
import { type StateProcess, startStateProcess } from "../../support/state-process.ts";

const ACKNOWLEDGED = 25;

let directory: string;
const children: StateProcess[] = [];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "opsctl-processes-"));
});
afterEach(async () => {
  for (const child of children.splice(0)) await child.kill();
  rmSync(directory, { recursive: true });
});

function start(...args: Parameters<typeof startStateProcess>): StateProcess {
  const child = startStateProcess(...args);
  children.push(child);
  return child;
}

const COUNTS = `select count(*) filter (where kind = 'message') as messages,
  count(*) filter (where kind = 'issue') as issues,
  count(distinct fingerprint) filter (where kind = 'issue') as fingerprints from {outbox}`;

const open = async () =>
  outboxOn(await openSqliteStore({ directory, nowMs: Date.now, log: silentLog }), {
    ...{ limits: OUTBOX_LIMITS, comments: false, log: silentLog },
  });

test("a process killed right after an acceptance has lost nothing, and frees the role of the one that delivers", async () => {
  const child = start("accept", directory);
  expect(await child.next()).toBe(true);
  let last: unknown;
  for (let at = 0; at < ACKNOWLEDGED; at += 1) last = await child.next();
  await child.kill();
  const state = await open();
  expect(last).toBe(ACKNOWLEDGED - 1);
  expect((await dueIds(state, "message", { limit: 10_000 })).length).toBeGreaterThanOrEqual(ACKNOWLEDGED);
  for (let at = 0; at < ACKNOWLEDGED; at += 1) {
    const { message, issue } = await state.latest(`f${at}`);
    expect([message?.status, issue?.status]).toEqual(["queued", "queued"]);
  }
  expect(await state.lead()).toBe(true);
  await state.close();
});

describe("processes on one file", () => {
  test("processes make files for their user alone", async () => {
    const umask = process.umask(0);
    const child = start("accept", directory);
    process.umask(umask);
    await child.next();
    await child.next();
    const names = readdirSync(directory);
    expect(names).toContain("state.db-wal");
    expect(names.filter((name) => (statSync(join(directory, name)).mode & 0o777) !== 0o600)).toEqual([]);
  });

  test("processes that accept the same alerts claim each issue once", async () => {
    await (await open()).close();
    const rivals = [start("accept", directory), start("accept", directory)];
    for (const rival of rivals) for (let at = 0; at < ACKNOWLEDGED; at += 1) await rival.next();
    for (const rival of rivals) await rival.kill();
    const store = await openSqliteStore({ directory, nowMs: Date.now, log: silentLog });
    const [counts] = await store.read((sql) => sql.all(COUNTS));
    expect(counts!.messages).toBeGreaterThan(Number(counts!.issues));
    expect(counts!.fingerprints).toBe(counts!.issues!);
    await store.close();
  });

  test("processes that race for the same keys are first for each key once", async () => {
    const rivals = Array.from({ length: 4 }, () => start("claim", directory));
    for (const rival of rivals) expect(await rival.next()).toBe("ready");
    for (const rival of rivals) rival.write();
    const firsts = (await Promise.all(rivals.map((rival) => rival.next()))).flat() as string[];
    expect(firsts).toHaveLength(200);
    expect(new Set(firsts).size).toBe(200);
  });

  test("processes that open a damaged one at once move it aside once, and all use the new one", async () => {
    writeFileSync(join(directory, "state.db"), "no database at all ".repeat(1_000));
    const rivals = [start("open", directory), start("open", directory)];
    for (const rival of rivals) expect(await rival.next()).toBe("ready");
    for (const rival of rivals) rival.write();
    const answers = (await Promise.all(rivals.map((rival) => rival.next()))) as OpenAnswer[];
    expect(answers.filter(({ quarantined }) => quarantined !== null)).toHaveLength(1);
    expect(answers.every(({ isAccepted }) => isAccepted)).toBe(true);
    const state = await open();
    expect((await state.stats()).message.queued).toBe(2);
    await state.close();
    expect(readdirSync(directory).filter((name) => /damaged-[0-9TZ]+$/.test(name))).toHaveLength(1);
  });
});

type OpenAnswer = { quarantined: string | null; isAccepted: boolean };
