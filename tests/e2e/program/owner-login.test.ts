/** The owner's login while root's child uses it: no other process of the account gets at it, on every runtime. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import process from "node:process";
import type { Finding } from "../../../lib/doctor/finding.ts";
import { type RawPeer, startSilentPeer } from "../../standins/raw-peer.ts";
import {
  ACCOUNT,
  type AccountHost,
  canHaveAccount,
  openAccountHost,
  UNTRIED,
} from "../../support/account-host.ts";
import { denoCache } from "../../support/deno-cache.ts";
import { until } from "../../support/until.ts";
import { ENGINES, type Running, type RuntimeName, startProgram } from "../support/opsctl.ts";
import { startSpy } from "../support/spy.ts";

let host: AccountHost;
let database: RawPeer;
beforeAll(async () => {
  host = openAccountHost();
  if (canHaveAccount) host.warmDeno();
  database = await startSilentPeer();
});
afterAll(async () => {
  host[Symbol.dispose]();
  await database.stop();
});

const CANARY = "canary-of-the-owner";
const ownersUrl = () => `postgres://owner:${CANARY}@127.0.0.1:${database.port}/app`;
/** Where a host has no capability that root may pass on. */
const WITHOUT_GUARD = 'set -- setpriv --bounding-set=-block_suspend,-audit_write "$@"';
/** Where it has only what a container of Docker has. */
const IN_CONTAINER = 'set -- setpriv --bounding-set=-block_suspend "$@"';

type How = { env?: Record<string, string>; before?: string };

async function start(runtime: RuntimeName, args: string[], { env, before }: How = {}): Promise<Running> {
  const base = {
    ...{ PATH: "/usr/bin:/bin", HOME: host.folder, DENO_NO_UPDATE_CHECK: "1", DENO_DIR: denoCache() },
    ...{ OPSCTL_SECRETS_DIR: host.path("none"), OPSCTL_ENV_DIR: host.path("none") },
  };
  const words = host.inside(await host.opsctl(runtime, args), before);
  return startProgram(words, { cwd: "/", env: { ...base, ...env } });
}

function childOf({ pid }: Running): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ")[0]);
}

const field = (status: string, name: string) => new RegExp(`^${name}:\\s*(.*)$`, "m").exec(status)?.[1];

describe.each(ENGINES)(`the owner's login that root hands over, on %s${UNTRIED}`, (runtime) => {
  const tried = test.skipIf(!canHaveAccount);

  /** Every way that a spy found open, from the start of the command until it has used the login. */
  async function openedDuring(args: string[], { env = {}, before = ":" }: How): Promise<string[]> {
    const earlier = database.connections;
    const gate = host.path(`gate-${crypto.randomUUID()}`);
    spawnSync("mkfifo", [gate]);
    const running = await start(runtime, args, { env, before: `${before}; read -r _ < ${gate}` });
    using spy = startSpy(running.pid);
    await spy.ready;
    await writeFile(gate, "go\n");
    await until("a connection", () => database.connections > earlier);
    await spy.seen;
    running.kill("SIGTERM");
    await running.ended;
    return await spy.opened;
  }

  tried.each([
    ["on a host", ":"],
    ["in a container", IN_CONTAINER],
  ])("is out of reach from the child's first moment to its last, %s", async (_, before) => {
    const env = { MIGRATE_DATABASE_URL: ownersUrl() };
    expect(await openedDuring(["migrate", "--status"], { env, before })).toEqual(["seen"]);
  });

  tried("would be in reach in a process that is not closed", async () => {
    const opened = await openedDuring(["migrate", "--status"], { env: { DATABASE_URL: ownersUrl() } });
    expect(opened).toEqual(expect.arrayContaining(["environ", "input", "mem", "ptrace", "seen", "vm"]));
  });

  tried("is out of reach while doctor uses it", async () => {
    const env = { MIGRATE_DATABASE_URL: ownersUrl() };
    expect(await openedDuring(["doctor", "migrate"], { env })).toEqual(["seen"]);
  });

  tried("is in a process that leaves no core file, opens no debugger and ends with root's", async () => {
    const earlier = database.connections;
    const running = await start(runtime, ["migrate", "--status"], {
      env: { MIGRATE_DATABASE_URL: ownersUrl() },
    });
    await until("a connection", () => database.connections > earlier);
    const child = childOf(running);
    const status = readFileSync(`/proc/${child}/status`, "utf8");
    expect(field(status, "Uid")).toBe(Array(4).fill(ACCOUNT.uid).join("\t"));
    expect(field(status, "NoNewPrivs")).toBe("1");
    // The kernel says so of a process whose memory it writes to no file.
    expect(lstatSync(`/proc/${child}/mem`).uid).toBe(0);
    if (runtime === "deno") {
      // Its debugger opens when SIGUSR1 comes to any of its threads. The others end by it.
      for (const thread of readdirSync(`/proc/${child}/task`))
        expect(field(readFileSync(`/proc/${child}/task/${thread}/status`, "utf8"), "SigBlk")).toEndWith(
          "200",
        );
      running.kill("SIGKILL");
    } else process.kill(child, "SIGUSR1");
    await until("the end of the child", () => !existsSync(`/proc/${child}`));
    expect((await running.ended).signal).toBe(runtime === "deno" ? "SIGKILL" : "SIGUSR1");
  });

  tried("is handed to no program that the account chose, and nor is the capability", async () => {
    const out = `${host.make(`chosen-${runtime}-facts`, 0o1777)}/facts`;
    const vault = host.put(
      `chosen-${runtime}.sh`,
      `#!/bin/sh\ncat /proc/self/status - >> ${out}\n`,
      0o755,
      ACCOUNT.uid,
    );
    host.make(`chosen-${runtime}`);
    host.put(
      `chosen-${runtime}/weekly.env`,
      `OPSCTL_SECRETS_COMMAND=${vault}\nMIGRATE_DATABASE_URL=postgres://other@127.0.0.1:1/app\n`,
      0o600,
      ACCOUNT.uid,
    );
    const env = {
      MIGRATE_DATABASE_URL: ownersUrl().replace(String(database.port), "1"),
      OPSCTL_ENV_DIR: host.path(`chosen-${runtime}`),
    };
    const [migrated, examined] = await Promise.all([
      start(runtime, ["migrate", "--status", "--json"], { env }).then(({ ended }) => ended),
      start(runtime, ["doctor", "--json"], { env }).then(({ ended }) => ended),
    ]);
    // The weekly run's checks ask it.
    const facts = readFileSync(out, "utf8");
    expect(new Set(facts.match(/^Cap(?:Prm|Amb):.*$/gm))).toEqual(
      new Set(["CapPrm:\t0000000000000000", "CapAmb:\t0000000000000000"]),
    );
    expect(facts).not.toContain(CANARY);
    const settings = host.path(`chosen-${runtime}/weekly.env`);
    expect(migrated.stderr).toContain(`variable=MIGRATE_DATABASE_URL from=${settings} used=environment`);
    const said = (examined.json.findings as Finding[]).filter(({ command }) => command === "migrate");
    expect(said).toContainEqual(
      expect.objectContaining({
        check: "secrets",
        status: "warn",
        reason: `MIGRATE_DATABASE_URL of ${settings} is not used: environment comes first`,
      }),
    );
  });

  tried("is said to be in reach where root has no capability to pass on", async () => {
    const env = { MIGRATE_DATABASE_URL: ownersUrl().replace(String(database.port), "1") };
    const told = async (before: string) => {
      const [migrated, examined] = await Promise.all([
        start(runtime, ["migrate", "--status"], { env, before }).then(({ ended }) => ended),
        start(runtime, ["doctor", "migrate"], { env, before }).then(({ ended }) => ended),
      ]);
      expect(migrated.stderr).toContain("DATABASE_UNREACHABLE");
      return [migrated.stderr, examined.stdout].map((text) => /other processes of/i.test(text));
    };
    expect(await told(WITHOUT_GUARD)).toEqual([true, true]);
    expect(await told(IN_CONTAINER)).toEqual([false, false]);
  });
});
