import type postgres from "postgres";
import postgresFile from "../../../../sql/state/postgres.sql" with { type: "text" };
import schemaFile from "../../../../sql/state/schema.sql" with { type: "text" };
import { classifyDatabaseError } from "../../../platform/database/pool.ts";
import { OpsError } from "../../../platform/errors.ts";
import { inPostgres } from "./link.ts";

const VERSION = 1;
/** Texts of alerts and messages have signs of every script; SQL_ASCII keeps whatever bytes it is given. */
const ENCODINGS: readonly string[] = ["UTF8", "SQL_ASCII"];
// A lock of the transaction, which a pooler may carry.
const LOCK_KEY = 7_317_120_432;

/**
 * Makes the schema `opsctl_state` where it is missing; returns whether it did.
 *
 * Behaviour: several hosts may do so at once. A login that may create nothing can use an empty schema that it owns.
 * Errors:    STATE_ENCODING_UNSUPPORTED; STATE_SCHEMA_FORBIDDEN when the login may not make or use the schema,
 *            STATE_SCHEMA_NEWER for one that a newer opsctl made; else those of the driver.
 */
export async function ensureStateSchema(sql: postgres.Sql): Promise<boolean> {
  await checkEncoding(sql);
  try {
    if (await isMade(sql)) return false;
    return await sql.begin(async (tx) => {
      await tx.unsafe(`set local lock_timeout = '15s'; select pg_advisory_xact_lock(${LOCK_KEY})`).simple();
      // Asked again under the lock: another host may have made it meanwhile.
      if (await isMade(tx)) return false;
      await tx.unsafe(postgresFile.replace("{tables}", () => inPostgres(schemaFile))).simple();
      await tx.unsafe(`insert into opsctl_state.meta (key, value) values ('version', '${VERSION}')`).simple();
      return true;
    });
  } catch (error) {
    if (classifyDatabaseError(error).sqlState !== "42501") throw error;
    throw unusable(
      "STATE_SCHEMA_FORBIDDEN",
      "the login of OPSCTL_STATE_URL may not create or use the schema opsctl_state",
      "Let it create a schema in this database, or: create schema opsctl_state authorization <login>;",
    );
  }
}

/**
 * Makes sure that a database can keep every text.
 *
 * Errors: STATE_ENCODING_UNSUPPORTED for one that could not; those of the driver.
 */
export async function checkEncoding(sql: postgres.Sql): Promise<void> {
  const [row] = await sql`select current_setting('server_encoding') as encoding`;
  if (ENCODINGS.includes(row!.encoding)) return;
  throw unusable(
    "STATE_ENCODING_UNSUPPORTED",
    `the database of OPSCTL_STATE_URL has the encoding ${row!.encoding}, expected UTF8`,
    "Make one for it: create database <name> encoding 'UTF8' template template0;",
  );
}

async function isMade(sql: postgres.ISql): Promise<boolean> {
  // From the tables themselves: what a session knows of names may be older than the lock.
  const [found] = await sql`
    select from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
    where n.nspname = 'opsctl_state' and c.relname = 'meta'`;
  if (!found) return false;
  const [row] = await sql`select value::int as version from opsctl_state.meta where key = 'version'`;
  if (row!.version <= VERSION) return true;
  throw unusable(
    "STATE_SCHEMA_NEWER",
    `the schema opsctl_state has version ${row!.version}, this opsctl knows ${VERSION}`,
    "A newer opsctl made it: use that one on every host",
  );
}

function unusable(code: string, why: string, hint: string): OpsError {
  return new OpsError({ code, message: `Cannot use the webhook's state: ${why}`, hint });
}
