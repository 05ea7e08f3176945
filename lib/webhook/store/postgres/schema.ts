import type postgres from "postgres";
import postgresFile from "../../../../sql/state/postgres.sql" with { type: "text" };
import schemaFile from "../../../../sql/state/schema.sql" with { type: "text" };
import { classifyDatabaseError } from "../../../platform/database/pool.ts";
import { OpsError } from "../../../platform/errors.ts";

const VERSION = 1;
/** Texts of alerts and messages have signs of every script; SQL_ASCII keeps whatever bytes it is given. */
const ENCODINGS: readonly string[] = ["UTF8", "SQL_ASCII"];
// A lock of the transaction, which a pooler may carry.
const LOCK_KEY = 7_317_120_432;

/** A text of the store's statements as PostgreSQL takes it: see `Sql`. */
export function inPostgres(text: string): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => NAMES[name] ?? `opsctl_state.${name}`);
}

const NAMES: Readonly<Record<string, string>> = { now: "opsctl_state.now_ms()", id: "bigint" };

/**
 * Makes the schema `opsctl_state` where it is missing; returns whether it did.
 *
 * Behaviour: several hosts may do so at once. A login that may create nothing can use an existing schema that it owns.
 * Errors:    STATE_ENCODING_UNSUPPORTED for a database that could not keep every text; STATE_SCHEMA_FORBIDDEN when the
 *            schema is missing and the login may not make it, or when another login owns it; STATE_SCHEMA_NEWER for one
 *            that a newer opsctl made, STATE_UNAVAILABLE for one that was made before 0.1.0; else those of the driver.
 */
export async function ensureStateSchema(sql: postgres.Sql): Promise<boolean> {
  await checkEncoding(sql);
  try {
    if (await isMade(sql)) return false;
    return await sql.begin(async (tx) => {
      await tx.unsafe("set local lock_timeout = '15s'").simple();
      await tx.unsafe(`select pg_advisory_xact_lock(${LOCK_KEY})`).simple();
      // Asked again under the lock: another host may have made it meanwhile.
      if (await isMade(tx)) return false;
      await tx.unsafe(postgresFile.replace("{tables}", () => inPostgres(schemaFile))).simple();
      await tx.unsafe(`insert into opsctl_state.meta (key, value) values ('version', '${VERSION}')`).simple();
      return true;
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

async function isMade(sql: postgres.ISql): Promise<boolean> {
  // From the catalog, because naming a table of a schema that is closed to us is an error.
  const [found] = await sql`
    select c.relname as name, pg_has_role(c.relowner, 'USAGE') as ours
    from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
    where n.nspname = 'opsctl_state' and c.relname in ('meta', 'versions')`;
  if (!found) return false;
  if (!found.ours) throw forbidden();
  if (found.name === "versions")
    throw new OpsError({
      code: "STATE_UNAVAILABLE",
      message: "Cannot use the webhook's state: the schema opsctl_state is from before the first release",
      hint: "Drop it, with what still waits in it: drop schema opsctl_state cascade;",
    });
  const [row] = await sql`select value::int as version from opsctl_state.meta where key = 'version'`;
  if (row!.version <= VERSION) return true;
  throw new OpsError({
    code: "STATE_SCHEMA_NEWER",
    message: `Cannot use the webhook's state: the schema opsctl_state has version ${row!.version}, this opsctl knows ${VERSION}`,
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
