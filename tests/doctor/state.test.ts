import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Secret } from "../../lib/platform/secrets/secret.ts";
import { openPostgresState } from "../../lib/webhook/state/postgres/state.ts";
import { requires } from "../support/requires.ts";
import { silentLog } from "../support/silent-log.ts";
import { smallDisk } from "../support/small-disk.ts";
import { type Host, ofCheck, openHost, silenceWebhook, treeOf, unitOpens } from "./support/host.ts";

describe("a state file", () => {
  let host: Host;
  beforeAll(async () => {
    host = await openHost();
    silenceWebhook(host);
  });
  afterAll(async () => await host[Symbol.asyncDispose]());

  const outbox = async () => ofCheck(await host.examine("webhook"), "outbox");

  test("doctor reads a state file that nobody has open, and leaves nothing beside it", async () => {
    const before = treeOf(host.path("state"));
    expect(await outbox()).toEqual([
      { status: "pass", reason: `${host.path("state/state.db")} can be read` },
      { status: "pass", reason: "nothing queued" },
    ]);
    expect(treeOf(host.path("state"))).toEqual(before);
  });

  test("doctor does not read a state file with a write-ahead log beside it", async () => {
    using db = new DatabaseSync(host.path("state/state.db"));
    db.exec("create table more (x); insert into more values (1)");
    const before = treeOf(host.path("state"));
    expect(await outbox()).toMatchObject([{ status: "warn" }]);
    const { env } = host.dependencies;
    host.dependencies.env = { ...env, WEBHOOK_ADMIN_PORT: "0" };
    expect(await outbox()).toMatchObject([{ status: "pass" }]);
    host.dependencies.env = env;
    expect(treeOf(host.path("state"))).toEqual(before);
  });
});

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
    const found = (await host.examine("webhook")).filter(({ check }) => check === "outbox");
    expect(found).toMatchObject([{ status: "fail", code: "STATE_ENCODING_UNSUPPORTED" }]);
    await host.db.sql.unsafe(`drop database ${name} with (force)`);
  });

  test("doctor reads a shared state, and does not make one that does not exist yet", async () => {
    await using host = await openHost();
    silenceWebhook(host);
    host.put("secrets/OPSCTL_STATE_URL", host.db.url);
    const outbox = async () => ofCheck(await host.examine("webhook"), "outbox");
    expect(await outbox()).toEqual([
      { status: "warn", reason: "the shared database has no state yet: the service makes it at its start" },
    ]);
    expect(await host.db.sql`select 1 from pg_namespace where nspname = 'opsctl_state'`).toHaveLength(0);

    const url = new Secret(host.db.url);
    await (await openPostgresState({ url, log: silentLog, applicationName: "test" })).close();
    expect(await outbox()).toEqual([{ status: "pass", reason: "nothing queued" }]);
  });
});

requires("mount").test(
  "doctor finds that the disk of the state is full, and says nothing of one with room",
  async () => {
    const disk = smallDisk(20);
    try {
      await using host = await openHost();
      host.setting("webhook", "OPSCTL_STATE_DIR", disk.directory);
      const low = async () => (await host.examine("webhook")).filter(({ code }) => code === "DISK_LOW");
      expect(await low()).toEqual([]);
      disk.fill();
      expect(await low()).toMatchObject([{ check: "state directory", status: "warn" }]);
    } finally {
      disk.remove();
    }
  },
);

describe("doctor finds no fault with a unit that", () => {
  test.each<[string, (state: string) => string]>([
    ["opens the state directory", (state) => state],
    ["opens it where it is there", (state) => `/srv/other -${state}`],
    ["opens a directory above it", (state) => `+${dirname(state)}/`],
  ])("%s", async (_name, openedOf) => {
    await using host = await openHost();
    unitOpens(host, openedOf(host.path("state")));
    expect(ofCheck(await host.examine("webhook"), "state directory").slice(1)).toEqual([]);
  });
});
