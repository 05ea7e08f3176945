/** A row of the shared state whose alert cannot be read. */
import { expect, test } from "bun:test";
import { Secret } from "../../../../lib/platform/secrets/secret.ts";
import { openPostgresState } from "../../../../lib/webhook/state/postgres/state.ts";
import { sharedPostgres } from "../../../support/postgres.ts";
import { silentLog } from "../../../support/silent-log.ts";
import { sampleAlert } from "../../support/sample-alert.ts";
import { acceptAll, dueIds } from "../../support/state-fixture.ts";

test("a damaged row is given up, and does not hold up those behind it", async () => {
  const database = await (await sharedPostgres()).createDatabase({ migrated: false, appSchema: false });
  const url = new Secret(database.url);
  const state = await openPostgresState({ url, log: silentLog, applicationName: "unreadable" });
  const [damaged, sound] = await acceptAll(state, sampleAlert(), sampleAlert({ fingerprint: "f2" }));
  await database.sql`update opsctl_state.outbox set alert = 'null' where id = ${damaged!.messageRow}`;
  expect(await dueIds(state, "message")).toEqual([sound!.messageRow]);
  const dead = (await state.listDead()).map(({ id, code }) => [id, code]);
  expect(dead).toEqual([[damaged!.messageRow, "alert_unreadable"]]);
  await state.close();
  await database.drop();
});
