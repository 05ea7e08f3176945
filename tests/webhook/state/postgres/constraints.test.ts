/** Rows whose columns do not fit each other: the database refuses them from every writer. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createStateDatabase, type StateDatabase } from "../../support/postgres-state.ts";

const MESSAGE = { kind: "message", state: "queued", alert: "{}" };
const ISSUE = { ...MESSAGE, kind: "issue", message_row: 1, claim_token: crypto.randomUUID(), claimed_at: 1 };
const COMMENT = { ...MESSAGE, kind: "comment", issue_row: 2, claimed_at: 1 };
const ENDED = { settled_at: 1 };

type Row = Record<string, string | number | boolean | null>;

const SOUND: [string, Row][] = [
  ["a message that waits", MESSAGE],
  ["a message that was delivered", { ...MESSAGE, ...ENDED, state: "delivered", alert: null }],
  ["an issue that was given up", { ...ISSUE, ...ENDED, state: "dead" }],
  ["a comment in doubt", { ...COMMENT, ...ENDED, state: "in_doubt" }],
];

const UNSOUND: [string, Row][] = [
  ["another kind", { ...MESSAGE, kind: "mail" }],
  ["another state", { ...MESSAGE, ...ENDED, state: "lost" }],
  ["a head that has ended", { ...MESSAGE, ...ENDED, state: "dead", is_head: true }],
  ["an end of what waits", { ...MESSAGE, ...ENDED }],
  ["no end of what was given up", { ...MESSAGE, state: "dead" }],
  ["no text of what waits", { ...MESSAGE, alert: null }],
  ["the text of what was delivered", { ...MESSAGE, ...ENDED, state: "delivered" }],
  ["a message with the message of an issue", { ...MESSAGE, message_row: 1 }],
  ["an issue without its message", { ...ISSUE, message_row: null }],
  ["an issue without a claim", { ...ISSUE, claim_token: null }],
  ["an issue without the time of its claim", { ...ISSUE, claimed_at: null }],
  ["a message with the time of a claim", { ...MESSAGE, claimed_at: 1 }],
  ["a comment without its issue", { ...COMMENT, issue_row: null }],
  ["a message with the issue of a comment", { ...MESSAGE, issue_row: 1 }],
];

const COUNTS = [
  ...["message", "issue", "comment"].flatMap((kind) =>
    ["queued", "dead", "in_doubt"].map((state) => `${kind}_${state}`),
  ),
  ...["waiting_messages", "queued_bytes", "detour_emailed", "detour_given_up"],
];

describe("the tables of the state", () => {
  let store: StateDatabase;
  beforeAll(async () => {
    store = await createStateDatabase();
  });
  afterAll(() => store.database.drop());

  const insert = async (row: Row) => {
    const common = { issue_key: "issue:f", fingerprint: "f", squad: "infra", priority: 2, bytes: 2 };
    const times = { accepted_at: 0, age_from: 0, waits_from: 0, due_at: 0 };
    const { sql } = store.database;
    await sql`insert into opsctl_state.outbox ${sql({ ...common, ...times, ...row })}`;
  };

  test.each(SOUND)("take %s", async (_, row) => {
    await insert(row);
  });

  test.each(UNSOUND)("refuse %s", async (_, row) => {
    expect(await insert(row).catch((error) => error.constraint_name)).toBe("outbox_fits");
  });

  test.each(COUNTS)("refuse that %s is less than nothing", async (count) => {
    const { sql } = store.database;
    const change = sql`update opsctl_state.totals set ${sql(count)} = -1`;
    expect(await change.catch((error) => error.constraint_name)).toBe("totals_counts");
  });
});
