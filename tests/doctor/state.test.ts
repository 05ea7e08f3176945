import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { linkSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { Secret } from "../../lib/platform/secrets/secret.ts";
import { openPostgresState } from "../../lib/webhook/state/postgres/state.ts";
import { silentLog } from "../support/silent-log.ts";
import { ofCheck, unknownAdvice } from "./support/fault.ts";
import { type Host, openHost, treeOf } from "./support/host.ts";

describe("runDoctor() looks into a state file", () => {
  let host: Host;
  beforeAll(async () => {
    host = await openHost();
    host.dependencies.adminUrl = new URL("http://127.0.0.1:1");
  });
  afterAll(async () => await host[Symbol.asyncDispose]());

  const outbox = async () => ofCheck(await host.examine("webhook"), "outbox");

  test("that nobody has open, and leaves nothing beside it", async () => {
    const before = treeOf(host.path("state"));
    expect(await outbox()).toEqual([
      { status: "pass", reason: `${host.path("state/state.db")} can be read` },
      { status: "pass", reason: "0 messages wait, none was given up" },
      { status: "pass", reason: "0 issues wait, none was given up" },
    ]);
    expect(treeOf(host.path("state"))).toEqual(before);
  });

  test("but not while a write-ahead log stands beside it", async () => {
    using db = new DatabaseSync(host.path("state/state.db"));
    db.exec("create table more (x); insert into more values (1)");
    const before = treeOf(host.path("state"));
    expect(await outbox()).toEqual([
      { status: "warn", reason: expect.stringMatching(/^not checked: .* has a write-ahead log/) },
    ]);
    expect(treeOf(host.path("state"))).toEqual(before);
  });

  test("that is damaged, and leaves it to the service", async () => {
    host.put("state/state.db", "no database at all, but long enough to look like one".repeat(40));
    expect(await outbox()).toEqual([
      { status: "fail", reason: expect.stringContaining("state.db cannot be read: file is not a database") },
    ]);
  });

  test("that a start on a full disk left without a byte", async () => {
    host.put("state/state.db", "");
    expect(await outbox()).toEqual([
      {
        status: "fail",
        reason: expect.stringContaining("state.db is empty: the service could not write to it"),
      },
    ]);
  });

  test("but not one that may be another file's second name, and has it moved away", async () => {
    linkSync(host.path("state/state.db"), host.path("second-name"));
    const found = (await host.examine("webhook")).filter(({ check }) => check === "outbox");
    expect(found).toMatchObject([
      {
        status: "fail",
        reason: expect.stringContaining("has a second name elsewhere (a hard link)"),
        mend: `Look at it, then move it away: mv -nT ${host.path("state/state.db")} ${host.path("state/state.db")}.foreign`,
      },
    ]);
    expect(unknownAdvice(found, host)).toEqual([]);
    rmSync(host.path("second-name"));
  });

  test("that is not there", async () => {
    rmSync(host.path("state/state.db"));
    expect(await outbox()).toEqual([
      { status: "warn", reason: expect.stringContaining("state.db does not exist yet") },
    ]);
  });
});

describe("runDoctor() looks into a shared state", () => {
  test("in a database that cannot keep every text", async () => {
    await using host = await openHost();
    host.dependencies.adminUrl = new URL("http://127.0.0.1:1");
    const url = new URL(host.db.url);
    const name = `${host.db.name}_latin`;
    url.pathname = `/${name}`;
    const encoding = "encoding 'LATIN1' lc_collate 'C' lc_ctype 'C'";
    await host.db.sql.unsafe(`create database ${name} template template0 ${encoding}`);
    host.put("secrets/OPSCTL_STATE_URL", url.href);
    expect(ofCheck(await host.examine("webhook"), "outbox")).toEqual([
      { status: "fail", reason: expect.stringContaining("has the encoding LATIN1, expected UTF8") },
    ]);
    await host.db.sql.unsafe(`drop database ${name} with (force)`);
  });

  test("that does not exist yet, and does not make it; then into one that does", async () => {
    await using host = await openHost();
    host.dependencies.adminUrl = new URL("http://127.0.0.1:1");
    host.put("secrets/OPSCTL_STATE_URL", host.db.url);
    const outbox = async () => ofCheck(await host.examine("webhook"), "outbox");
    expect(await outbox()).toEqual([
      { status: "warn", reason: "the shared database has no state yet: the service makes it at its start" },
    ]);
    expect(await host.db.sql`select 1 from pg_namespace where nspname = 'opsctl_state'`).toHaveLength(0);

    const url = new Secret(host.db.url);
    await (await openPostgresState({ url, log: silentLog, applicationName: "test" })).close();
    expect(await outbox()).toEqual([
      { status: "pass", reason: "0 messages wait, none was given up" },
      { status: "pass", reason: "0 issues wait, none was given up" },
    ]);
  });
});
