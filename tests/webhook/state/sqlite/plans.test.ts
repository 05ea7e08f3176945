/** Which indexes the statements of the state use: none may walk along everything that waits. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openSqliteState } from "../../../../lib/webhook/state/sqlite/state.ts";
import { silentLog } from "../../../support/silent-log.ts";
import { START_MS } from "../../support/state-fixture.ts";

/** What is counted now and then, or listed for a person, may read an index from end to end. */
const READS_ALL =
  /count\(\*\)|min\(age_from_ms\)|order by id desc limit|case kind when|bytes, alert, text from/;
const FOR_PERSONS = [
  "select id, kind, state as status, digest, fingerprint, attempts, code, accepted_at_ms, ended_at_ms, alert from outbox where state in ('dead', 'in_doubt') order by id",
  "select id from outbox where state = 'queued' order by id",
  "select id from outbox where state in ('dead', 'in_doubt') order by id",
];

let directory: string;
let statements: string[];
let planOf: (sql: string) => string;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "opsctl-plans-"));
  statements = await preparedBy(directory);
  const db = new DatabaseSync(join(directory, "state.db"), { readOnly: true });
  planOf = (sql) =>
    (db.prepare(`explain query plan ${sql}`).all() as { detail: string }[])
      .map(({ detail }) => detail)
      .join("; ");
});
afterAll(() => rmSync(directory, { recursive: true }));

/** The text of every statement that an open state has prepared. */
async function preparedBy(folder: string): Promise<string[]> {
  const seen = new Set<string>();
  const { prepare } = DatabaseSync.prototype;
  DatabaseSync.prototype.prepare = function (this: DatabaseSync, sql, ...rest) {
    seen.add(sql.replace(/\s+/g, " ").trim());
    return prepare.call(this, sql, ...rest);
  };
  try {
    const options = { directory: folder, nowMs: () => START_MS, comments: true, log: silentLog };
    await (await openSqliteState(options)).close();
  } finally {
    DatabaseSync.prototype.prepare = prepare;
  }
  return [...seen].filter((sql) => /^(select|with|insert|update|delete)\b/.test(sql));
}

test("the next row of a fingerprint is found by the row ahead of it", () => {
  const inLine = statements.filter(
    (sql) => /\bahead (= \?|is null|= line\.id)/.test(sql) && !/^insert/.test(sql),
  );
  const looked = inLine.filter((sql) => /where .*ahead|on .*ahead/.test(sql));
  expect(looked.length).toBeGreaterThanOrEqual(4);
  for (const sql of looked)
    expect([sql, planOf(sql)]).toEqual([sql, expect.stringContaining("outbox_behind (ahead=?")]);
});

test("nothing but counts and lists for persons reads the outbox from end to end", () => {
  const walks = statements.filter(
    (sql) =>
      !READS_ALL.test(sql) &&
      !FOR_PERSONS.includes(sql) &&
      /SCAN outbox\b(?!.*outbox_unheard)/.test(planOf(sql)),
  );
  expect(walks).toEqual([]);
});

test("rows that were tried come out of the index of their time, and only a few hundred of them are sorted", () => {
  const tried = statements.filter((sql) => sql.includes("next_attempt_at_ms <= ?"));
  expect(tried).toHaveLength(1);
  const [inner, outer] = planOf(tried[0]!).split("; SCAN ");
  expect(inner).toContain("next_attempt_at_ms>? AND next_attempt_at_ms<?");
  expect(inner).not.toContain("TEMP B-TREE");
  expect(outer).toContain("TEMP B-TREE");
  expect(tried[0]).toContain("limit max(256, ?5)");
});
