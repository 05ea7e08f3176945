import { expect, test } from "bun:test";
import { databaseSnapshot } from "../../support/database-snapshot.ts";
import { seedOwner } from "../../support/seed.ts";
import { weeklyFixture } from "../support/weekly-fixture.ts";

const OWN = ["weekly_performance_reports", "weekly_performance_deliveries", "timeline_entries"];

test("a whole run writes to its own two tables and the timeline alone, and calls no other route", async () => {
  await using weekly = await weeklyFixture();
  const { db, application, gateway, email } = weekly;
  const phones = [undefined, undefined, null];
  for (const phone of phones) {
    await seedOwner(db.sql, { balance: 0, ...(phone === undefined ? {} : { phone }) });
  }
  await seedOwner(db.sql, { archived: true });
  await seedOwner(db.sql, { wallet: "suspended" });
  // The application's own analysis has been made before; here it only answers.
  weekly.onAnalyze = async () => {};
  await db.sql.unsafe(`
    create table dossier (id integer, text text);
    insert into dossier values (1, 'not ours');
    create function public.not_ours() returns trigger language plpgsql as
      $$ begin raise exception 'written by the weekly run: %', tg_table_name; end $$;
    do $do$ declare t record; begin
      for t in select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'
        and relname not in (${OWN.map((name) => `'${name}'`).join(", ")})
      loop
        execute format('create trigger not_ours before insert or update or delete or truncate on %I
                        for each statement execute function public.not_ours()', t.relname);
      end loop;
    end $do$`);
  const before = await databaseSnapshot(weekly.db.sql, { except: OWN });
  expect(Object.keys(before)).toEqual(
    expect.arrayContaining(["r credit_wallets", "r tenants", "r users", "r dossier"]),
  );
  email.routes.send.next({ status: 500 });

  const editorials = { enabled: true, maxLlmCalls: 30, secretPresent: true };
  const summary = await weekly.run({ editorials });

  expect(summary).toMatchObject({
    reports: { scopes: 3, completed: 3, failed: 0 },
    whatsapp: { sent: 2, failed: 1 },
    email: { sent: 2, unknown: 1 },
    editorials: { status: "completed" },
  });
  expect(await weekly.run({ editorials })).toMatchObject({ reports: { reused: 3 } });
  expect(await databaseSnapshot(weekly.db.sql, { except: OWN })).toEqual(before);
  expect([application.unexpected, gateway.unexpected, email.unexpected]).toEqual([[], [], []]);
});
