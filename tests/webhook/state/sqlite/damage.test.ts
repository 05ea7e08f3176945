/** A damaged state file: it is moved aside, what can be read is kept, and the service starts. */
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
import type { State } from "../../../../lib/webhook/state/contract.ts";
import { openSqliteDedup, openSqliteState } from "../../../../lib/webhook/state/sqlite/state.ts";
import { silentLog } from "../../../support/silent-log.ts";
import { sampleAlert } from "../../support/sample-alert.ts";
import { acceptAll, DELIVERED, dueIds, START_MS } from "../../support/state-fixture.ts";

const PAGE = 4_096;
const ALERTS = 200;
const REFUSED = { refused: "state_unavailable" } as const;

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

function open(): Promise<State> {
  const log = { ...silentLog, error: (msg: string) => void errors.push(msg) };
  return openSqliteState({ directory, nowMs: () => nowMs, log });
}

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

/** Overwrites the last page that has a row's text: a leaf of the outbox's tree. */
function breakCommand(): void {
  const pages = readFileSync(path);
  const at = pages.lastIndexOf("Load acima de 15");
  const page = Math.floor(at / PAGE);
  const file = openSync(path, "r+");
  writeSync(file, Buffer.alloc(PAGE, 0x5a), 0, PAGE, page * PAGE);
  closeSync(file);
}

async function expectMended(state: State): Promise<void> {
  expect(state.movedAside).toStartWith(`${path}.damaged-20261116T140000Z`);
  expect(existsSync(state.movedAside as string)).toBe(true);
  expect(errors).toContain(
    "The state file was damaged: it was moved aside, and what could be read of it was kept",
  );
  await state.check();
  await acceptAll(state, sampleAlert({ fingerprint: "new" }));
}

describe("openSqliteState() on a damaged file", () => {
  test("starts with a new one when nothing of it can be read", async () => {
    await fill();
    writeFileSync(path, "garbage ".repeat(2_000));
    const state = await open();
    await expectMended(state);
    expect((await state.stats()).message.queued).toBe(1);
    await state.close();
    const again = await open();
    expect(again.movedAside).toBeNull();
    expect((await again.stats()).message.queued).toBe(1);
    await again.close();
  });

  test("takes an empty or missing file for a new one", async () => {
    writeFileSync(path, "");
    const state = await open();
    expect(state.movedAside).toBeNull();
    await acceptAll(state, sampleAlert());
    await state.close();
  });

  test("keeps the rows and the claims of a file that was cut off, as far as they can be read", async () => {
    await fill();
    truncateSync(path, Math.floor(statSync(path).size / PAGE / 2) * PAGE);
    const state = await open();
    await expectMended(state);
    expect((await state.stats()).message.queued).toBeGreaterThan(1);
    await state.close();
  });

  test("keeps every row outside a broken page, in order, with its issue and its claim", async () => {
    await fill();
    breakCommand();
    const state = await open();
    await expectMended(state);
    const { message, issue } = await state.stats();
    // A page has about three rows of this size.
    expect(message.queued + issue.queued).toBeGreaterThan(2 * ALERTS - 20);
    expect(message.queued + issue.queued).toBeLessThan(2 * ALERTS);
    expect((await state.latest("f0")).message?.status).toBe("delivered");
    const due = await state.due("message", { limit: 3, except: [], issueGraceMs: 0 });
    expect(due.map(({ alert }) => alert.fingerprint)).toEqual(["f1", "f2", "f3"]);
    expect((await acceptAll(state, sampleAlert({ fingerprint: "f5" })))[0]?.issue.status).toBe("duplicate");
    const ids = await dueIds(state, "message", { limit: 1_000 });
    expect(ids).toHaveLength(message.queued);
    // Not the number of a lost row, which a process may still settle.
    expect(ids.at(-1)).toBeGreaterThan(1_000);
    await state.close();
  });

  test("keeps what is in the log beside it and not yet in the file", async () => {
    await fill();
    const state = await open();
    await acceptAll(state, sampleAlert({ fingerprint: "in the log" }));
    // As a kill leaves it: with its log, which closing would have written back.
    for (const suffix of ["", "-wal"]) writeFileSync(`${path}${suffix}.kept`, readFileSync(path + suffix));
    await state.close();
    for (const suffix of ["", "-wal"]) renameSync(`${path}${suffix}.kept`, path + suffix);
    breakCommand();
    const mended = await open();
    await expectMended(mended);
    expect((await mended.latest("in the log")).message?.status).toBe("queued");
    await mended.close();
  });

  test("goes on where a mending was killed", async () => {
    await fill();
    renameSync(path, `${path}.mended`);
    writeFileSync(`${path}.mending`, "half");
    for (const suffix of ["", "-wal"]) writeFileSync(path + suffix, "garbage ".repeat(2_000));
    const state = await open();
    await expectMended(state);
    expect(existsSync(`${state.movedAside}-wal`)).toBe(true);
    expect((await state.stats()).message.queued).toBe(ALERTS);
    expect(readdirSync(directory).filter((name) => name.endsWith(".mended"))).toEqual([]);
    await state.close();
  });

  test("found in operation refuses, then mends, and goes on", async () => {
    await fill();
    const state = await open();
    breakCommand();
    // A page is read again after another process has written.
    const { dedup, close } = await openSqliteDedup({ directory, nowMs: () => nowMs, log: silentLog });
    dedup.claim("a", 1_000);
    close();
    const alerts = [sampleAlert({ fingerprint: "late" })];
    expect(await state.accept([alerts, alerts])).toEqual([REFUSED, REFUSED]);
    expect(state.movedAside).toBeNull();
    expect(await acceptAll(state, ...alerts)).toMatchObject([{ issue: { status: "first" } }]);
    await expectMended(state);
    expect((await state.latest("f1")).message?.status).toBe("queued");
    await state.close();
  });

  test("is not moved away from under a process that has it open", async () => {
    await fill();
    const { dedup, close } = await openSqliteDedup({ directory, nowMs: () => nowMs, log: silentLog });
    breakCommand();
    await expect(open()).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
    expect(dedup.claim("a", 1_000).status).toBe("first");
    close();
    const state = await open();
    await expectMended(state);
    await state.close();
  });
});
