/** How the state's schema is made, and who may use it. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { OpsError } from "../../../../lib/platform/errors.ts";
import { Secret } from "../../../../lib/platform/secrets/secret.ts";
import { OUTBOX_LIMITS } from "../../../../lib/webhook/store/model.ts";
import type { State } from "../../../../lib/webhook/store/outbox.ts";
import { outboxOn } from "../../../../lib/webhook/store/outbox.ts";
import { openPostgresStore } from "../../../../lib/webhook/store/postgres/store.ts";
import { MAJORS } from "../../../sql/support/ledger.ts";
import { PASSWORD, sharedPostgres, type TestDatabase } from "../../../support/postgres.ts";
import { newLogin } from "../../../support/roles.ts";
import { silentLog } from "../../../support/silent-log.ts";
import { sampleAlert } from "../../support/sample-alert.ts";
import { acceptAll } from "../../support/state-fixture.ts";

async function openAt(url: string, { mayBeUnavailable = false } = {}): Promise<State> {
  const options = { url: new Secret(url), log: silentLog, applicationName: "opsctl webhook serve" };
  const store = await openPostgresStore({ ...options, mayBeUnavailable });
  return outboxOn(store, { limits: OUTBOX_LIMITS, comments: true, log: silentLog });
}

for (const major of MAJORS) {
  describe(`openPostgresStore() on PostgreSQL ${major ?? "18"}`, () => {
    let database: TestDatabase;
    const logins: string[] = [];

    beforeEach(async () => {
      database = await (await sharedPostgres(major)).createDatabase({ migrated: false, appSchema: false });
    });
    afterEach(async () => {
      for (const login of logins) await database.sql.unsafe(`drop owned by ${login} cascade`);
      for (const login of logins.splice(0)) await database.sql.unsafe(`drop role ${login}`);
      await database.drop();
    });

    const open = async (login = "postgres"): Promise<State> =>
      openAt((await sharedPostgres(major)).url(database.name, login));
    const login = async (): Promise<string> => {
      const name = await newLogin(database.sql);
      logins.push(name);
      return name;
    };
    const refusal = async (name?: string): Promise<OpsError> => {
      const error = await open(name).then(
        () => null,
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(OpsError);
      expect(JSON.stringify([String(error), error])).not.toContain(PASSWORD);
      return error as OpsError;
    };

    test("makes its schema when five hosts start at once, and uses what is there", async () => {
      const states = await Promise.all([open(), open(), open(), open(), open()]);
      await Promise.all(
        states.map((state, index) => acceptAll(state, sampleAlert({ fingerprint: `f${index}` }))),
      );
      expect((await states[0]!.stats()).message.queued).toBe(5);
      await Promise.all(states.map((state) => state.close()));
      const again = await open();
      expect((await again.stats()).issue.queued).toBe(5);
      await again.close();
    });

    test("refuses a login that may not create the schema, and takes one that owns it", async () => {
      const name = await login();
      const error = await refusal(name);
      expect(error).toMatchObject({ code: "STATE_SCHEMA_FORBIDDEN" });
      expect(error.message).toContain("OPSCTL_STATE_URL");
      const schemas = await database.sql`select from pg_namespace where nspname = 'opsctl_state'`;
      expect(schemas).toHaveLength(0);

      await database.sql.unsafe(`create schema opsctl_state authorization ${name}`);
      const state = await open(name);
      await acceptAll(state, sampleAlert());
      await state.close();
    });

    test("refuses a database whose encoding has no sign for what messages begin with", async () => {
      const server = await sharedPostgres(major);
      const name = `${database.name}_latin`;
      const encoding = "encoding 'LATIN1' lc_collate 'C' lc_ctype 'C'";
      await database.sql.unsafe(`create database ${name} template template0 ${encoding}`);
      const opening = openAt(server.url(name), { mayBeUnavailable: true });
      await expect(opening).rejects.toMatchObject({ code: "STATE_ENCODING_UNSUPPORTED" });
      await database.sql.unsafe(`drop database ${name} with (force)`);
    });

    test("refuses a schema that is another's, and one that a newer opsctl made", async () => {
      await (await open()).close();
      expect(await refusal(await login())).toMatchObject({ code: "STATE_SCHEMA_FORBIDDEN" });
      await database.sql`update opsctl_state.meta set value = '99' where key = 'version'`;
      expect(await refusal()).toMatchObject({ code: "STATE_SCHEMA_NEWER" });
    });

    test("names its own setting when the database is not there", async () => {
      const { name } = database;
      const url = new URL(database.url);
      url.pathname = `/${name}_gone`;
      const error = await openAt(url.href).catch((thrown: unknown) => thrown as OpsError);
      expect(error).toMatchObject({ code: "DATABASE_NOT_FOUND" });
      expect((error as OpsError).hint).toContain("OPSCTL_STATE_URL");
    });

    test("leaves nothing to other roles, whatever a platform grants on what is new", async () => {
      const name = await login();
      for (const objects of ["schemas", "tables", "sequences", "functions"])
        await database.sql.unsafe(`alter default privileges grant all on ${objects} to ${name}`);
      await (await open()).close();
      const left = await database.sql`
        select relname::text as name from pg_class, aclexplode(relacl)
        where relnamespace = 'opsctl_state'::regnamespace and grantee <> relowner
        union all
        select proname::text from pg_proc, aclexplode(coalesce(proacl, acldefault('f', proowner)))
        where pronamespace = 'opsctl_state'::regnamespace and grantee <> proowner
        union all
        select nspname::text from pg_namespace, aclexplode(nspacl)
        where nspname = 'opsctl_state' and grantee <> nspowner`;
      expect(left.map((row) => row.name)).toEqual([]);
    });
  });
}
