import { describe, expect, test } from "bun:test";
import { ofCheck, openHost, silenceWebhook } from "./support/host.ts";

describe("a shared state", () => {
  test("doctor names a state database that cannot keep every text", async () => {
    await using host = await openHost();
    silenceWebhook(host);
    const url = new URL(host.db.url);
    const name = `${host.db.name}_latin`;
    url.pathname = `/${name}`;
    const encoding = "encoding 'LATIN1' lc_collate 'C' lc_ctype 'C'";
    await host.db.sql.unsafe(`create database ${name} template template0 ${encoding}`);
    host.put("secrets/OPSCTL_STATE_URL", url.href);
    const found = (await host.examine("webhook")).filter(({ check }) => check === "state directory");
    expect(found).toMatchObject([{ status: "fail", code: "STATE_ENCODING_UNSUPPORTED" }]);
    await host.db.sql.unsafe(`drop database ${name} with (force)`);
  });

  test("doctor asks a shared state, and does not make one that does not exist yet", async () => {
    await using host = await openHost();
    host.put("secrets/OPSCTL_STATE_URL", host.db.url);
    expect(ofCheck(await host.examine("webhook"), "state directory")).toEqual([
      { status: "pass", reason: "the state is kept in a database that answers" },
    ]);
    expect(await host.db.sql`select 1 from pg_namespace where nspname = 'opsctl_state'`).toHaveLength(0);
  });
});
