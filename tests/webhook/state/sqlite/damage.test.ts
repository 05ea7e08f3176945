/** A state file that is damaged, taken away, or of a newer version. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { OUTBOX_LIMITS } from "../../../../lib/webhook/store/model.ts";
import type { State } from "../../../../lib/webhook/store/outbox.ts";
import { outboxOn } from "../../../../lib/webhook/store/outbox.ts";
import { openSqliteDedup, openSqliteStore } from "../../../../lib/webhook/store/sqlite/store.ts";
import { silentLog } from "../../../support/silent-log.ts";
import { resolvedAlert, sampleAlert } from "../../support/sample-alert.ts";
import {
  acceptAll,
  acceptOne,
  CREATED,
  DELIVERED,
  dueIds,
  dueRows,
  ISSUE_URL,
  issueRowOf,
  NO_NOTE,
  onlyDue,
  retryAfter,
  START_MS,
  start,
  tryOnce,
} from "../../support/state-fixture.ts";

const PAGE = 4_096;
const ALERTS = 200;
/** Longer than a page: a row of its own pages, which can be broken alone. */
const LONG = "x".repeat(3_000);
const DAMAGED = "The state file was damaged: it is quarantined, and what could be read of it was kept";
const REMOVED = "The state file or its log was removed or replaced while it was in use: it is opened again";

let directory: string;
let path: string;
let errors: string[];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "opsctl-damage-"));
  path = join(directory, "state.db");
  errors = [];
});
afterEach(() => rmSync(directory, { recursive: true }));

function options() {
  const log = { ...silentLog, error: (msg: string) => void errors.push(msg) };
  return { directory, nowMs: () => START_MS, log };
}

/** As the service opens it, or a command. */
async function open(mayBeUnavailable = true): Promise<State> {
  const store = await openSqliteStore({ ...options(), mayBeUnavailable });
  return outboxOn(store, { limits: OUTBOX_LIMITS, comments: true, log: options().log });
}

/** A closed file with a good number of firing alerts, the first one delivered. */
async function fill(): Promise<void> {
  const state = await open();
  const alerts = Array.from({ length: ALERTS }, (_, at) =>
    sampleAlert({ fingerprint: `f${at}`, description: "x".repeat(500) }),
  );
  const [first] = await acceptAll(state, ...alerts);
  await state.finish(first!.messageRow, DELIVERED);
  await state.close();
}

/** Overwrites the last page that has a text. */
function breakPageOf(text: string): void {
  const at = readFileSync(path).lastIndexOf(text);
  expect(at).toBeGreaterThan(0);
  const file = openSync(path, "r+");
  writeSync(file, Buffer.alloc(PAGE, 0x5a), 0, PAGE, Math.floor(at / PAGE) * PAGE);
  closeSync(file);
}

const breakRows = () => breakPageOf("Load acima de 15");

async function expectQuarantined(state: State): Promise<void> {
  expect(state.quarantined).toStartWith(`${path}.damaged-20261116T140000250Z`);
  expect(existsSync(state.quarantined!)).toBe(true);
  expect(errors).toContain(DAMAGED);
  await state.check();
  await acceptOne(state, sampleAlert({ fingerprint: "new" }));
}

describe("a damaged state file", () => {
  test("is replaced by a new one when nothing of it can be read", async () => {
    await fill();
    writeFileSync(path, "garbage ".repeat(2_000));
    const state = await open();
    await expectQuarantined(state);
    await state.close();
    const again = await open();
    expect(again.quarantined).toBeNull();
    expect((await again.stats()).message.queued).toBe(1);
    await again.close();
  });

  test("is none when it is empty", async () => {
    writeFileSync(path, "");
    const state = await open();
    expect(state.quarantined).toBeNull();
    await acceptOne(state, sampleAlert());
    await state.close();
  });

  test("a file that was cut off keeps the rows that can be read", async () => {
    await fill();
    truncateSync(path, Math.floor(statSync(path).size / PAGE / 2) * PAGE);
    const state = await open();
    await expectQuarantined(state);
    expect((await state.stats()).message.queued).toBeGreaterThan(1);
    await state.close();
  });

  test("keeps the rows outside a broken page, in order, with their issues and claims", async () => {
    await fill();
    breakRows();
    const state = await open();
    await expectQuarantined(state);
    const { message, issue } = await state.stats();
    // A page has about three rows of this size.
    expect(message.queued + issue.queued).toBeGreaterThan(2 * ALERTS - 20);
    expect(message.queued + issue.queued).toBeLessThan(2 * ALERTS);
    const due = await dueRows(state, "message", { limit: 3 });
    expect(due.map(({ alert }) => alert.fingerprint)).toEqual(["f1", "f2", "f3"]);
    expect((await state.recent(1_000)).at(-1)?.message.status).toBe("delivered");
    expect((await acceptOne(state, sampleAlert({ fingerprint: "f5" }))).issue.status).toBe("duplicate");
    const ids = await dueIds(state, "message", { limit: 1_000 });
    // Not the number of a lost row, which a process may still settle.
    expect(ids.at(-1)).toBeGreaterThan(1_000);
    await state.close();
  });

  test("keeps alerts whose message combines several, also when the row that has the text is lost", async () => {
    const state = await open();
    const alerts = ["kept", "a", "pad", "lost", "b"].map((name) =>
      resolvedAlert({ fingerprint: name, description: `${name}-marker ${LONG}` }),
    );
    const rows = (await acceptAll(state, ...alerts)).map(({ messageRow }) => messageRow);
    const [kept, a, pad, lost, b] = rows as [number, number, number, number, number];
    const maybe = retryAfter(0, { ambiguous: 1, mayHaveArrived: true });
    await tryOnce(state, kept, maybe, start("two", [a]));
    await tryOnce(state, lost, maybe, start("two others", [b]));
    await state.close();
    breakPageOf("lost-marker");
    const again = await open();
    await expectQuarantined(again);
    const due = (await dueRows(again, "message")).map(({ id, sent, members }) => [id, sent?.text, members]);
    expect(due.slice(0, 3)).toEqual([
      [kept, "two", [a]],
      [pad, undefined, []],
      [b, undefined, []],
    ]);
    await again.close();
  });

  test("keeps comments, paused lanes, and what is firing", async () => {
    const state = await open();
    const firing = await acceptOne(state, sampleAlert());
    await acceptOne(state, resolvedAlert());
    await acceptOne(state, sampleAlert({ fingerprint: "still firing" }));
    await acceptOne(state, resolvedAlert({ fingerprint: "broken", description: `broken-marker ${LONG}` }));
    await state.pauseLane("message", "sem_instancia_gateway");
    const content = { text: "text", note: NO_NOTE };
    await state.begin({ id: firing.messageRow, attempts: 0 }, { content, members: [], paceAheadMs: 9_000 });
    await state.close();
    breakPageOf("broken-marker");
    const again = await open();
    expect(again.quarantined).not.toBeNull();
    expect(await dueIds(again, "comment")).toEqual([]);
    await again.finish(issueRowOf(firing), CREATED);
    expect((await onlyDue(again, "comment")).issueUrl).toBe(ISSUE_URL);
    expect((await again.lanes()).message).toEqual({ pausedBy: "sem_instancia_gateway", paceAheadMs: 9_000 });
    const repeated = await acceptOne(again, sampleAlert({ fingerprint: "still firing" }));
    expect(repeated.isRepeat).toBe(true);
    await again.close();
  });

  test("keeps what is in the log beside it and not yet in the file", async () => {
    await fill();
    const state = await open();
    await acceptOne(state, sampleAlert({ fingerprint: "in the log" }));
    // As a kill leaves it: with its log, which closing would have written back.
    for (const suffix of ["", "-wal"]) writeFileSync(`${path}${suffix}.kept`, readFileSync(path + suffix));
    await state.close();
    for (const suffix of ["", "-wal"]) renameSync(`${path}${suffix}.kept`, path + suffix);
    breakRows();
    const again = await open();
    await expectQuarantined(again);
    const due = await dueRows(again, "message", { limit: 1_000 });
    expect(due.map(({ alert }) => alert.fingerprint)).toContain("in the log");
    await again.close();
  });

  test("a damage that is found in operation refuses alerts until the file is moved aside", async () => {
    await fill();
    const state = await open();
    breakRows();
    // A page is read again after another process has written.
    const { dedup, close } = await openSqliteDedup(options());
    dedup.claim("a", 1_000);
    close();
    const alerts = [sampleAlert({ fingerprint: "late" })];
    expect(await state.accept([alerts])).toEqual([{ refused: "state_unavailable" }]);
    expect(state.quarantined).toBeNull();
    expect(await state.accept([alerts])).toMatchObject([{ accepted: [{ issue: { status: "first" } }] }]);
    await expectQuarantined(state);
    expect((await state.stats()).message.queued).toBeGreaterThan(ALERTS - 20);
    await state.close();
  });

  test("is left by a service that has it open when another process has replaced it", async () => {
    await fill();
    const service = await open();
    breakRows();
    const command = await open(false);
    await command.close();
    expect(command.quarantined).toBeNull();
    const other = await open();
    await expectQuarantined(other);
    expect(await service.lead()).toBe(true);
    const late = await acceptOne(service, sampleAlert({ fingerprint: "late" }));
    await service.close();
    expect(await dueIds(other, "message", { limit: 1_000 })).toContain(late.messageRow);
    await other.close();
  });
});

describe("a state file that is in use", () => {
  test.each([false, true])(
    "is noticed to be gone, and a new one keeps what is accepted from then on; replaced: %p",
    async (isReplaced) => {
      const state = await open();
      await acceptOne(state, sampleAlert());
      const files = readdirSync(directory).filter((name) => name.startsWith("state.db"));
      for (const name of files) renameSync(join(directory, name), join(directory, `old-${name}`));
      const other = isReplaced ? await open() : null;
      const kept = other && (await acceptOne(other, sampleAlert({ fingerprint: "other" }))).messageRow;
      expect(await state.lead()).toBe(true);
      const late = await acceptOne(state, sampleAlert({ fingerprint: "late" }));
      expect(errors).toEqual([REMOVED]);
      await state.close();
      await other?.close();
      const next = await open();
      expect(await dueIds(next, "message")).toEqual([...(kept ? [kept] : []), late.messageRow]);
      expect(statSync(path).mode & 0o777).toBe(0o600);
      await next.close();
    },
  );

  test("loses nothing when its log is removed", async () => {
    const state = await open();
    const first = await acceptOne(state, sampleAlert());
    rmSync(`${path}-wal`);
    expect(await state.lead()).toBe(true);
    const late = await acceptOne(state, sampleAlert({ fingerprint: "late" }));
    expect(errors).toEqual([REMOVED]);
    const next = await open();
    expect(await dueIds(next, "message")).toEqual([first.messageRow, late.messageRow]);
    await next.close();
    await state.close();
  });
});

describe("a state file", () => {
  test.each([
    ["of a newer version", "update meta set value = '2' where key = 'version'", "its version is 2", "newer"],
    ["of no version", "drop table meta", "its version is unknown", "move state.db"],
  ])("%s is refused, and left as it is", async (_name, change, message, hint) => {
    await (await open()).close();
    const db = new DatabaseSync(path);
    db.exec(change);
    db.close();
    const before = readFileSync(path);
    for (const opening of [open, () => openSqliteDedup(options())])
      await expect(opening()).rejects.toMatchObject({
        code: "STATE_UNAVAILABLE",
        message: expect.stringContaining(message),
        hint: expect.stringContaining(hint),
      });
    expect(readFileSync(path)).toEqual(before);
    expect(readdirSync(directory).filter((name) => name.includes("damaged"))).toEqual([]);
  });
});
