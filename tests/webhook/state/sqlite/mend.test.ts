/** What a mended file keeps of texts that tell several alerts, of comments, and of what stands beside the rows. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { State } from "../../../../lib/webhook/state/contract.ts";
import { openSqliteState } from "../../../../lib/webhook/state/sqlite/state.ts";
import { silentLog } from "../../../support/silent-log.ts";
import { resolvedAlert, sampleAlert } from "../../support/sample-alert.ts";
import { acceptAll, DELIVERED, dueIds, issueRowOf, START_MS } from "../../support/state-fixture.ts";
import { wrongMarks } from "../../support/state-marks.ts";

const PAGE = 4_096;
/** Longer than a page: a row of its own pages, that can be broken alone. */
const LONG = "x".repeat(3_000);

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "opsctl-mend-"));
  path = join(directory, "state.db");
});
afterEach(() => rmSync(directory, { recursive: true }));

const open = () => openSqliteState({ directory, nowMs: () => START_MS, comments: true, log: silentLog });
const alert = (fingerprint: string, description = LONG) =>
  resolvedAlert({ fingerprint, severity: "warning", description });

/** Overwrites the page of a closed file that has a text. */
function breakPageOf(text: string): void {
  const at = readFileSync(path).lastIndexOf(text);
  expect(at).toBeGreaterThan(0);
  const file = openSync(path, "r+");
  writeSync(file, Buffer.alloc(PAGE, 0x5a), 0, PAGE, Math.floor(at / PAGE) * PAGE);
  closeSync(file);
}

/** Delivers everything that is due, one after the other; returns the messages. */
async function drain(state: State): Promise<number[]> {
  const told: number[] = [];
  for (const kind of ["issue", "message", "comment"] as const)
    for (let [id] = await dueIds(state, kind); id !== undefined; [id] = await dueIds(state, kind)) {
      const [row] = await state.due(kind, { limit: 1, except: [], issueGraceMs: 0 });
      await state.settle(id, DELIVERED);
      if (kind === "message") told.push(id, ...row!.members);
    }
  return told.sort((a, b) => a - b);
}

test("members of a text whose row is lost are rows of their own, those of another text stay in it", async () => {
  const state = await open();
  const names = ["kept", "a", "b", "pad", "lost-text", "c", "d"];
  const rows = (await acceptAll(state, ...names.map((name) => alert(name, `${name}-marker ${LONG}`)))).map(
    ({ messageRow }) => messageRow,
  );
  const [kept, a, b, pad, lost, c, d] = rows as [number, number, number, number, number, number, number];
  expect(await state.begin(kept, { text: "three", members: [a, b] })).toBe(true);
  expect(await state.begin(lost, { text: "three others", members: [c, d] })).toBe(true);
  await state.close();
  breakPageOf("lost-text-marker");
  const again = await open();
  expect(again.movedAside).not.toBeNull();
  expect(wrongMarks(path)).toEqual([]);
  const waiting = (await again.listQueued(99)).map(({ id, digest }) => [id, digest]);
  expect(waiting.find(([id]) => id === lost)).toBeUndefined();
  for (const member of [c, d]) expect(waiting).toContainEqual([member, null]);
  for (const member of [a, b]) expect(waiting).toContainEqual([member, kept]);
  const [first] = await again.due("message", { limit: 1, except: [], issueGraceMs: 0 });
  expect(first).toMatchObject({ id: kept, text: "three", members: [a, b], isUnsettled: true });
  expect(await drain(again)).toEqual([kept, a, b, pad, c, d].sort((one, two) => one - two));
  await again.close();
});

test("a comment waits for its issue as before, and holds, hours and what is firing are kept", async () => {
  const state = await open();
  const [firing] = await acceptAll(state, sampleAlert({ fingerprint: "with comment" }));
  const issue = issueRowOf(firing!);
  await acceptAll(state, resolvedAlert({ fingerprint: "with comment" }));
  const [still] = await acceptAll(state, sampleAlert({ fingerprint: "still firing" }));
  await acceptAll(state, alert("broken", `broken-marker ${LONG}`));
  await state.hold("message", "sem_instancia_gateway");
  await state.begin(firing!.messageRow, { text: "text" });
  await state.close();
  breakPageOf("broken-marker");
  const again = await open();
  expect(again.movedAside).not.toBeNull();
  expect(wrongMarks(path)).toEqual([]);
  expect((await again.stats()).comment.queued).toBe(1);
  expect(await dueIds(again, "comment")).toEqual([]);
  await again.settle(issue, { status: "delivered", reference: "OPS-1", url: "https://tracker.example/1" });
  const [comment] = await again.due("comment", { limit: 1, except: [], issueGraceMs: 0 });
  expect(comment?.issueUrl).toBe("https://tracker.example/1");
  expect((await again.holds()).message).toEqual({ code: "sem_instancia_gateway", sinceMs: START_MS });
  expect(await again.hourly(1)).toEqual([4]);
  expect(await again.begunWithin("message", 1_000)).toBe(1);
  const [repeated] = await acceptAll(again, sampleAlert({ fingerprint: "still firing" }));
  expect(repeated!.isRepeat).toBe(true);
  expect(repeated!.messageRow).toBeGreaterThan(still!.messageRow + 1_000_000);
  await again.close();
});
