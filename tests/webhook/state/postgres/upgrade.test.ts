/** A schema that an older opsctl made, and a host of that version that still runs beside this one. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type postgres from "postgres";
import { Secret } from "../../../../lib/platform/secrets/secret.ts";
import type { Alert } from "../../../../lib/webhook/alert/alert.ts";
import type { State } from "../../../../lib/webhook/state/contract.ts";
import { openPostgresState } from "../../../../lib/webhook/state/postgres/state.ts";
import { MAJORS } from "../../../sql/support/ledger.ts";
import { sharedPostgres, type TestDatabase } from "../../../support/postgres.ts";
import { silentLog } from "../../../support/silent-log.ts";
import { standStill } from "../../support/postgres-state.ts";
import { resolvedAlert, sampleAlert } from "../../support/sample-alert.ts";
import { acceptAll, DELIVERED, dueIds, MINUTE_MS, START_MS } from "../../support/state-fixture.ts";

const STATE_SQL = join(import.meta.dirname, "../../../../sql/state");
/** The schema of the version before this one. */
const RELEASED = [
  ...["0001_tables.sql", "0002_dedup.sql", "0003_accept.sql"],
  ...["0004_deliver.sql", "0005_closed.sql", "0006_search_path.sql"],
];

for (const major of MAJORS) {
  describe(`a schema of the version before, on PostgreSQL ${major ?? "18"}`, () => {
    let database: TestDatabase;
    let older: OlderHost;
    let state: State | undefined;

    beforeEach(async () => {
      database = await (await sharedPostgres(major)).createDatabase({ migrated: false, appSchema: false });
      const { sql } = database;
      for (const [index, file] of RELEASED.entries()) {
        await sql.unsafe(readFileSync(join(STATE_SQL, file), "utf8")).simple();
        await sql`insert into opsctl_state.versions (version) values (${index + 1})`;
      }
      await standStill(database);
      await sql`update public.test_clock set ms = ${START_MS}::bigint`;
      older = olderHost(sql);
    });
    afterEach(async () => {
      await state?.close();
      await database.drop();
    });

    const upgrade = async (): Promise<State> => {
      state = await openPostgresState({
        url: new Secret(database.url),
        log: silentLog,
        applicationName: "opsctl webhook serve",
        comments: true,
      });
      return state;
    };

    test("keeps its rows: what waits, what was given up, and the issues that have their end to come", async () => {
      const names = ["waits", "dead", "critical", "sent"];
      const accepted = await older.accept(
        ...names.map((fingerprint) =>
          sampleAlert({ fingerprint, severity: fingerprint === "critical" ? "critical" : "warning" }),
        ),
      );
      const [waits, dead, critical, sent] = accepted as [Accepted, Accepted, Accepted, Accepted];
      await older.settle(waits.message, "retry", "timeout");
      await older.settle(dead.message, "dead", "refused");
      await older.settle(dead.issue!, "dead", "refused");
      await older.settle(sent.message, "delivered", null);
      await older.settle(sent.issue!, "delivered", null);

      const upgraded = await upgrade();
      const rows = await upgraded.due("message", { limit: 9, except: [], issueGraceMs: 0 });
      expect(rows.map(({ id, attempts }) => [id, attempts])).toEqual([
        [critical.message, 0],
        [waits.message, 1],
      ]);
      const begun = { text: null, isUnsettled: false, unclear: 0, triedMs: 0, isRepeat: false, members: [] };
      expect(rows[1]).toMatchObject({ ...begun, alert: { fingerprint: "waits" } });
      expect(await upgraded.listDead()).toMatchObject([
        { id: dead.message, status: "dead", digest: null },
        { id: dead.issue!, kind: "issue" },
      ]);
      expect(await upgraded.stats()).toMatchObject({
        message: { queued: 2, dead: 1, inDoubt: 0 },
        issue: { queued: 2, dead: 1 },
        comment: { queued: 0 },
        oldestCriticalAgeMs: 0,
      });
      expect(await upgraded.waitingMessages(100)).toBe(1);
      expect(await upgraded.unheard(0)).toMatchObject([{ row: critical.message }]);
      expect(await upgraded.retryDead(null)).toBe(2);

      await acceptAll(upgraded, ...names.map((fingerprint) => resolvedAlert({ fingerprint })));
      const comments = await upgraded.due("comment", { limit: 9, except: [], issueGraceMs: 0 });
      expect(comments).toMatchObject([{ alert: { fingerprint: "sent" }, claimedAtMs: START_MS }]);
      expect(await upgraded.begin(rows[1]!.id, { text: "t" })).toBe(true);
      await upgraded.settle(rows[1]!.id, DELIVERED);
      expect(await totalsAgree(database.sql)).toBe(true);
    });

    test("a host of that version goes on beside a new one, and keeps off what it could not send", async () => {
      const [before] = await older.accept(sampleAlert({ fingerprint: "before" }));
      const upgraded = await upgrade();
      const [old] = await older.accept(sampleAlert({ fingerprint: "old" }));
      const mixed = [resolvedAlert({ fingerprint: "digest" }), resolvedAlert({ fingerprint: "member" })];
      const [digest, member] = await acceptAll(upgraded, ...mixed, resolvedAlert({ fingerprint: "fresh" }));
      await upgraded.begin(digest!.messageRow, { text: "both", members: [member!.messageRow] });
      const due = await older.due();
      expect(due).toEqual([before!.message, old!.message, member!.messageRow + 1]);

      await older.settle(before!.message, "retry", "timeout");
      await older.settle(old!.message, "dead", "refused");
      await older.settle(member!.messageRow + 1, "delivered", null);
      await older.settle(before!.issue!, "delivered", null);
      await database.sql`update public.test_clock set ms = ${START_MS + MINUTE_MS}::bigint`;
      expect(await dueIds(upgraded, "message")).toEqual([before!.message, digest!.messageRow]);
      expect(await older.stats()).toMatchObject({
        message_queued: "3",
        message_dead: "1",
        issue_queued: "1",
      });
      expect(await older.call("* from opsctl_state.latest('issue:old')")).toMatchObject([
        { kind: "message", state: "dead", code: "refused" },
        { kind: "issue", state: "queued" },
      ]);
      expect(await older.call("opsctl_state.retry_dead(null, 1800000)::int as n")).toEqual([{ n: 1 }]);
      await older.settle(old!.message, "dead", "refused");
      expect(await older.call("opsctl_state.drop_dead(null)::int as n")).toEqual([{ n: 1 }]);
      expect(await older.call("opsctl_state.prune_outbox(1000, 1000, 5000) as more")).toEqual([
        { more: false },
      ]);
      await older.call("opsctl_state.check_writable()");
      expect(await totalsAgree(database.sql)).toBe(true);
      // A repetition that the older host took is known as one only since the newer host saw its fingerprint.
      const [again] = await acceptAll(upgraded, sampleAlert({ fingerprint: "old" }));
      expect(again).toMatchObject({ isRepeat: false, issue: { status: "duplicate" } });
    });
  });
}

type Accepted = { message: number; issue: number | undefined };

type OlderHost = ReturnType<typeof olderHost>;

/** The calls as the version before makes them. */
function olderHost(sql: postgres.Sql) {
  const call = async (text: string): Promise<unknown[]> => [...(await sql.unsafe(`select ${text}`))];
  return {
    call,
    async accept(...alerts: Alert[]): Promise<Accepted[]> {
      const requests = JSON.stringify([alerts.map(encode)]);
      const [row] = await sql`
        select opsctl_state.accept(
          ${randomUUID()}::uuid, ${requests}::text::json, 100000::bigint, 1000000000::bigint, 1800000::bigint) as outcomes`;
      return JSON.parse(row!.outcomes)[0].accepted;
    },
    async due(): Promise<number[]> {
      const rows = await sql`
        select id, alert, attempts, age_ms, claimed_at, issue_url
        from opsctl_state.due('message'::text, 9::bigint, '[]'::text::json, 0::bigint)`;
      return rows.map(({ id }) => Number(id));
    },
    async settle(row: number, as: string, code: string | null): Promise<void> {
      await sql`
        select opsctl_state.settle(
          ${row}::bigint, ${as}::text, 0::bigint, ${code}::text, ${null}::text, ${null}::text)`;
    },
    stats: async () => (await call("* from opsctl_state.stats()"))[0],
  };
}

function encode(alert: Alert) {
  const json = JSON.stringify(alert);
  return {
    priority: alert.severity === "critical" ? 0 : 1,
    issue_key: `issue:${alert.fingerprint}`,
    fingerprint: alert.fingerprint,
    squad: alert.squad,
    alertname: alert.name,
    firing: alert.firing,
    alert: json,
    bytes: Buffer.byteLength(json),
  };
}

async function totalsAgree(sql: postgres.Sql): Promise<boolean> {
  const totals = async () => JSON.stringify(await sql`select * from opsctl_state.totals`);
  const counted = await totals();
  await sql`select opsctl_state.recount()`;
  return counted === (await totals());
}
