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
import type { State } from "../../../../lib/webhook/state/contract.ts";
import { openSqliteDedup, openSqliteState } from "../../../../lib/webhook/state/sqlite/state.ts";
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
  MINUTE_MS,
  onlyDue,
  START_MS,
} from "../../support/state-fixture.ts";
import { startStateProcess } from "../../support/state-process.ts";

const PAGE = 4_096;
const ALERTS = 200;
/** Longer than a page: a row of its own pages, which can be broken alone. */
const LONG = "x".repeat(3_000);
const DAMAGED = "The state file was damaged: it was moved aside, and what could be read of it was kept";

let directory: string;
let path: string;
let errors: string[];
let nowMs: number;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "opsctl-damage-"));
  path = join(directory, "state.db");
  errors = [];
  nowMs = START_MS;
});
afterEach(() => rmSync(directory, { recursive: true }));

function options() {
  const log = { ...silentLog, error: (msg: string) => void errors.push(msg) };
  return { directory, nowMs: () => nowMs, log };
}

const open = () => openSqliteState({ ...options(), comments: true });

/** A closed file with a good number of firing alerts, the first one delivered. */
async function fill(): Promise<void> {
  const state = await open();
  const alerts = Array.from({ length: ALERTS }, (_, at) =>
    sampleAlert({ fingerprint: `f${at}`, description: "x".repeat(500) }),
  );
  const [first] = await acceptAll(state, ...alerts);
  await state.settle(first!.messageRow, DELIVERED);
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
  expect(state.movedAside).toStartWith(`${path}.damaged-20261116T140000Z`);
  expect(existsSync(state.movedAside!)).toBe(true);
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
    expect(again.movedAside).toBeNull();
    expect((await again.stats()).message.queued).toBe(1);
    await again.close();
  });

  test("is none when it is empty", async () => {
    writeFileSync(path, "");
    const state = await open();
    expect(state.movedAside).toBeNull();
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
    expect((await state.latest("f0")).message?.status).toBe("delivered");
    const due = await dueRows(state, "message", { limit: 3 });
    expect(due.map(({ alert }) => alert.fingerprint)).toEqual(["f1", "f2", "f3"]);
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
    await state.begin(kept, { text: "two", members: [a] });
    await state.begin(lost, { text: "two others", members: [b] });
    await state.close();
    breakPageOf("lost-marker");
    const again = await open();
    await expectQuarantined(again);
    const due = (await dueRows(again, "message")).map(({ id, text, members }) => [id, text, members]);
    expect(due.slice(0, 3)).toEqual([
      [kept, "two", [a]],
      [pad, null, []],
      [b, null, []],
    ]);
    await again.close();
  });

  test("keeps comments, holds, hours, and what is firing", async () => {
    const state = await open();
    const firing = await acceptOne(state, sampleAlert());
    await acceptOne(state, resolvedAlert());
    await acceptOne(state, sampleAlert({ fingerprint: "still firing" }));
    await acceptOne(state, resolvedAlert({ fingerprint: "broken", description: `broken-marker ${LONG}` }));
    await state.hold("message", "sem_instancia_gateway");
    await state.begin(firing.messageRow, { text: "text" });
    await state.close();
    breakPageOf("broken-marker");
    const again = await open();
    expect(again.movedAside).not.toBeNull();
    expect(await dueIds(again, "comment")).toEqual([]);
    await again.settle(issueRowOf(firing), CREATED);
    expect((await onlyDue(again, "comment")).issueUrl).toBe(ISSUE_URL);
    expect((await again.holds()).message).toEqual({ code: "sem_instancia_gateway", sinceMs: START_MS });
    expect(await again.hourly(1)).toEqual([4]);
    expect(await again.begunWithin("message", 1_000)).toBe(1);
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
    expect((await again.latest("in the log")).message?.status).toBe("queued");
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
    expect(state.movedAside).toBeNull();
    expect(await state.accept([alerts])).toMatchObject([{ accepted: [{ issue: { status: "first" } }] }]);
    await expectQuarantined(state);
    expect((await state.latest("f1")).message?.status).toBe("queued");
    await state.close();
  });

  test("is not moved away from under a process that has it open", async () => {
    await fill();
    const { dedup, close } = await openSqliteDedup(options());
    breakRows();
    await expect(open()).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
    expect(dedup.claim("a", 1_000).status).toBe("first");
    close();
    const state = await open();
    await expectQuarantined(state);
    await state.close();
  });
});

describe("a state file that is taken away while it is in use", () => {
  test.each([false, true])(
    "loses nothing that is accepted from then on; replaced: %p",
    async (isReplaced) => {
      const state = await open();
      await acceptOne(state, sampleAlert());
      const files = readdirSync(directory).filter((name) => name.startsWith("state.db"));
      for (const name of files) renameSync(join(directory, name), join(directory, `old-${name}`));
      if (isReplaced) await (await open()).close();
      nowMs += MINUTE_MS;
      const late = await acceptOne(state, sampleAlert({ fingerprint: "late" }));
      // As the next process opens it after a kill, while this one is not closed.
      const next = await open();
      expect(await dueIds(next, "message")).toContain(late.messageRow);
      expect(statSync(path).mode & 0o777).toBe(0o600);
      await next.close();
      await state.close();
    },
  );

  test("leaves a missing log, which is reported once at the next start", async () => {
    const child = startStateProcess("accept", directory);
    for (let at = 0; at < 5; at += 1) await child.next();
    await child.kill();
    await (await open()).close();
    expect(errors).toEqual([]);
    const other = startStateProcess("accept", directory);
    for (let at = 0; at < 5; at += 1) await other.next();
    await other.kill();
    rmSync(`${path}-wal`);
    for (let start = 0; start < 2; start += 1) await (await open()).close();
    expect(errors).toEqual([
      "The log of the state file is missing: alerts that were accepted last may be lost",
    ]);
  });
});

test("a state file of a newer version is refused, and left as it is", async () => {
  await (await open()).close();
  const version = versionOf();
  const db = new DatabaseSync(path);
  db.exec(`pragma user_version = ${version + 1}`);
  db.close();
  await expect(open()).rejects.toMatchObject({
    code: "STATE_UNAVAILABLE",
    message: `Cannot use the state: its version is ${version + 1}, this opsctl knows ${version}`,
    hint: expect.stringContaining("newer"),
  });
  expect(versionOf()).toBe(version + 1);
  expect(readdirSync(directory).filter((name) => name.includes("damaged"))).toEqual([]);
});

function versionOf(): number {
  const db = new DatabaseSync(path, { readOnly: true });
  const version = Number(db.prepare("pragma user_version").get()?.user_version);
  db.close();
  return version;
}
