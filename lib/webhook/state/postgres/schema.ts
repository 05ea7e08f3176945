import type postgres from "postgres";
import tables from "../../../../sql/state/0001_tables.sql" with { type: "text" };
import dedup from "../../../../sql/state/0002_dedup.sql" with { type: "text" };
import accept from "../../../../sql/state/0003_accept.sql" with { type: "text" };
import deliver from "../../../../sql/state/0004_deliver.sql" with { type: "text" };
import closed from "../../../../sql/state/0005_closed.sql" with { type: "text" };
import searchPath from "../../../../sql/state/0006_search_path.sql" with { type: "text" };
import alarmTables from "../../../../sql/state/0007_alarm_tables.sql" with { type: "text" };
import alarmAccept from "../../../../sql/state/0008_alarm_accept.sql" with { type: "text" };
import alarmDeliver from "../../../../sql/state/0009_alarm_deliver.sql" with { type: "text" };
import alarmOperator from "../../../../sql/state/0010_alarm_operator.sql" with { type: "text" };
import alarmWatch from "../../../../sql/state/0011_alarm_watch.sql" with { type: "text" };
import { classifyDatabaseError } from "../../../platform/database/pool.ts";
import { OpsError } from "../../../platform/errors.ts";

/** The files of the schema, in order; a released file is never edited, a change is a new file. */
const FILES: readonly string[] = [
  ...[tables, dedup, accept, deliver, closed, searchPath],
  ...[alarmTables, alarmAccept, alarmDeliver, alarmOperator, alarmWatch],
];

/** Texts of alerts and messages have signs of every script; SQL_ASCII keeps whatever bytes it is given. */
const ENCODINGS: readonly string[] = ["UTF8", "SQL_ASCII"];

// A lock of the transaction, which a pooler may carry.
const LOCK_KEY = 7_317_120_432;

/**
 * Makes the schema `opsctl_state`, or upgrades it to this opsctl's version; returns whether anything changed.
 *
 * Behaviour: two hosts may do so at once. A login that may create nothing can use an existing schema that it owns.
 * Errors:    STATE_ENCODING_UNSUPPORTED for a database that could not keep every text; STATE_SCHEMA_FORBIDDEN when the
 *            schema is missing or old and the login may not change that, or when another login owns it;
 *            STATE_SCHEMA_NEWER for one that a newer opsctl made; else those of the driver.
 */
export async function ensureStateSchema(sql: postgres.Sql): Promise<boolean> {
  await checkEncoding(sql);
  try {
    if ((await versionOf(sql)) === FILES.length) return false;
    return await sql.begin(async (tx) => {
      await tx.unsafe("set local lock_timeout = '15s'").simple();
      await tx.unsafe(`select pg_advisory_xact_lock(${LOCK_KEY})`).simple();
      // Read again under the lock: another host may have made it meanwhile.
      const version = await versionOf(tx);
      for (const [index, file] of FILES.entries()) {
        if (index < version) continue;
        await tx.unsafe(file).simple();
        await tx`insert into opsctl_state.versions (version) values (${index + 1})`;
      }
      return version < FILES.length;
    });
  } catch (error) {
    throw classifyDatabaseError(error).sqlState === "42501" ? forbidden(error) : error;
  }
}

/**
 * Makes sure that a database can keep every text.
 *
 * Errors: STATE_ENCODING_UNSUPPORTED; those of the driver.
 */
export async function checkEncoding(sql: postgres.Sql): Promise<void> {
  const [row] = await sql`select current_setting('server_encoding') as encoding`;
  if (ENCODINGS.includes(row!.encoding)) return;
  throw new OpsError({
    code: "STATE_ENCODING_UNSUPPORTED",
    message: `Cannot use the webhook's state: the database of OPSCTL_STATE_URL has the encoding ${row!.encoding}, expected UTF8`,
    hint: "Make one for it: create database <name> encoding 'UTF8' template template0;",
  });
}

async function versionOf(sql: postgres.ISql): Promise<number> {
  // From the catalog, because naming a table of a schema that is closed to us is an error.
  const [found] = await sql`
    select pg_has_role(c.relowner, 'USAGE') as ours
    from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
    where n.nspname = 'opsctl_state' and c.relname = 'versions'`;
  if (!found) return 0;
  if (!found.ours) throw forbidden();
  const [row] = await sql`
    select coalesce(max(version), 0)::int as version from opsctl_state.versions`;
  const version: number = row!.version;
  if (version <= FILES.length) return version;
  throw new OpsError({
    code: "STATE_SCHEMA_NEWER",
    message: `Cannot use the webhook's state: the schema opsctl_state has version ${version}, this opsctl knows ${FILES.length}`,
    hint: "A newer opsctl made it: use that one on every host",
  });
}

function forbidden(cause?: unknown): OpsError {
  return new OpsError({
    code: "STATE_SCHEMA_FORBIDDEN",
    message:
      "Cannot use the webhook's state: the login of OPSCTL_STATE_URL may not create or use the schema opsctl_state",
    hint: "Let it create a schema in this database, or: create schema opsctl_state authorization <login>;",
    cause,
  });
}
