/** What root starts and what belongs to the account `opsctl`: on a machine that has the account, on every runtime. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import type { Finding } from "../../../lib/doctor/finding.ts";
import type { SecretList } from "../../../lib/secret/list.ts";
import { startSilentPeer } from "../../standins/raw-peer.ts";
import {
  ACCOUNT,
  type AccountHost,
  canHaveAccount,
  openAccountHost,
  UNTRIED,
} from "../../support/account-host.ts";
import { denoCache } from "../../support/deno-cache.ts";
import { freePort } from "../../support/free-port.ts";
import { until } from "../../support/until.ts";
import {
  ENGINES,
  type Ended,
  RUNTIMES,
  type Running,
  type RuntimeName,
  startProgram,
} from "../support/opsctl.ts";

let host: AccountHost;
beforeAll(() => {
  host = openAccountHost();
  if (canHaveAccount) host.warmDeno();
});
afterAll(() => host[Symbol.dispose]());

/** Whether a process may be root of a user namespace of its own here. */
const canMap =
  Bun.spawnSync(["unshare", "--user", "--map-root-user", "true"], { stderr: "ignore" }).exitCode === 0;

type How = { env?: Record<string, string>; before?: string; on?: AccountHost };

/** Starts opsctl there, with a home in which a runtime may keep what it likes. */
async function start(
  runtime: RuntimeName,
  args: string[],
  { env, before, on = host }: How = {},
): Promise<Running> {
  const words = on.inside(await on.opsctl(runtime, args), before);
  const base = {
    PATH: "/usr/bin:/bin",
    HOME: on.folder,
    DENO_NO_UPDATE_CHECK: "1",
    DENO_DIR: denoCache(),
  };
  return startProgram(words, { cwd: "/", env: { ...base, ...env } });
}

async function run(runtime: RuntimeName, args: string[], how: How = {}): Promise<Ended> {
  return await (await start(runtime, args, how)).ended;
}

/** A secret command that writes down what it is, and the variables that make the command ask it. */
function witness(on: AccountHost, name: string): { env: Record<string, string>; facts(): string } {
  const out = `${on.make(`${name}-facts`, 0o1777)}/facts`;
  const command = on.put(
    `${name}.sh`,
    `#!/bin/sh\n{ cat /proc/self/status; id -G; env; echo "Cwd: $(readlink /proc/self/cwd)"; } > ${out}\n` +
      `ls -l /proc/$PPID/fd /proc/self/fd > ${out}-open; { cut -d' ' -f7 /proc/$PPID/stat; for fd in 0 1 2; do readlink /proc/$PPID/fd/$fd; ` +
      `sed -n 's/^flags:.*\\(.\\)/\\1/p' /proc/$PPID/fdinfo/$fd; done; } > ${out}-tty\n`,
    0o755,
  );
  const env = { OPSCTL_SECRETS_COMMAND: command, OPSCTL_SECRETS_DIR: on.path("no-secrets") };
  return { env, facts: () => readFileSync(out, "utf8") };
}

const field = (facts: string, name: string) => new RegExp(`^${name}:\\s*(.*)$`, "m").exec(facts)?.[1];

const AS_ACCOUNT = [
  ...["setpriv", `--reuid=${ACCOUNT.uid}`, `--regid=${ACCOUNT.gid}`, "--clear-groups", "--pdeathsig=KILL"],
];
const PTRACE = process.arch === "arm64" ? "117" : "101";
/** Attaches to a process and stops it (ptrace), and never waits for it. */
const HOLDS = `$| = 1; my ($ptrace, $pid) = map { $_ + 0 } @ARGV;
  my $isHeld = syscall($ptrace, 0x4206, $pid, 0, 0) == 0 && syscall($ptrace, 0x4207, $pid, 0, 0) == 0;
  print $isHeld ? "held\\n" : "refused\\n"; sleep 600`;
describe.concurrent.each(RUNTIMES)(`a command that root starts, on %s${UNTRIED}`, (runtime) => {
  const tried = test.skipIf(!canHaveAccount);

  tried("has become the account before it asks for a secret, without a way back", async () => {
    const { env, facts } = witness(host, `become-${runtime}`);
    const { exitCode, json } = await run(runtime, ["migrate", "--status", "--json"], {
      env: { ...env, BUN_OPTIONS: "", OF_ROOT: "passed on", HOSTING_TOKEN: "roots-own-token" },
      before: 'cd "$0"',
    });
    expect([exitCode, (json.error as { code: string }).code]).toEqual([3, "CONFIG_INVALID"]);
    const { uid, gid, extraGid } = ACCOUNT;
    expect(field(facts(), "Uid")).toBe([uid, uid, uid, uid].join("\t"));
    expect(field(facts(), "Gid")).toBe([gid, gid, gid, gid].join("\t"));
    expect(facts()).toContain(`\n${gid} ${extraGid}\n`);
    for (const set of ["CapInh", "CapPrm", "CapEff", "CapAmb"])
      expect(field(facts(), set)).toBe("0000000000000000");
    expect(field(facts(), "NoNewPrivs")).toBe("1");
    expect(facts()).toContain("\nHOME=/var/lib/opsctl\n");
    expect(facts()).toContain("\nOF_ROOT=passed on\n");
    expect(facts()).not.toMatch(/BUN_OPTIONS|roots-own-token/);
    expect(field(facts(), "Cwd")).toBe("/");
  });
});

/** A dry run at a database that says nothing, and the process of the account that does its work. */
async function startHanging(runtime: (typeof ENGINES)[number]) {
  const database = await startSilentPeer();
  const running = await start(runtime, ["weekly", "--json", "--dry-run"], { env: weeklyEnv(database.port) });
  await until("a connection", () => database.connections > 0);
  const children = readFileSync(`/proc/${running.pid}/task/${running.pid}/children`, "utf8");
  const child = Number(children.split(" ")[0]);
  return { running, child, [Symbol.asyncDispose]: () => database.stop() };
}

describe.concurrent.each(ENGINES)(`a command that root starts, on the engine of %s${UNTRIED}`, (runtime) => {
  const tried = test.skipIf(!canHaveAccount);

  tried("has nothing that root's shell had open", async () => {
    const { env } = witness(host, `open-${runtime}`);
    const before = 'exec 7</etc/shadow 9>>"$0/of-root"';
    const { exitCode } = await run(runtime, ["migrate", "--status"], { env, before });
    const open = readFileSync(host.path(`open-${runtime}-facts/facts-open`), "utf8");
    expect([exitCode, open.includes(" 0 -> ")]).toEqual([3, true]);
    expect(open).not.toMatch(/shadow|of-root/);
  });

  tried("leaves no file of root's behind", async () => {
    const state = host.make(`own-${runtime}`, 0o700, ACCOUNT.uid);
    const { exitCode, json } = await run(runtime, ["webhook", "dead", "list", "--json"], {
      env: { OPSCTL_STATE_DIR: state },
    });
    expect([exitCode, json.dead]).toEqual([0, []]);
    const owners = readdirSync(state).map((name) => lstatSync(`${state}/${name}`).uid);
    expect(new Set(owners)).toEqual(new Set([ACCOUNT.uid]));
  });

  tried("stays root with --as-is, and on a host without the account", async () => {
    using other = openAccountHost({ account: false });
    const [kept, without] = [witness(host, `kept-${runtime}`), witness(other, "without")];
    await Promise.all([
      run(runtime, ["migrate", "--status", "--as-is"], { env: kept.env }),
      run(runtime, ["migrate", "--status"], { env: without.env, on: other }),
    ]);
    for (const { facts } of [kept, without]) expect(field(facts(), "Uid")).toBe("0\t0\t0\t0");
  });

  tried("does nothing where it cannot become the account, and says how to go on", async () => {
    const { env, facts } = witness(host, `cannot-${runtime}`);
    const args = ["migrate", "--status", "--json"];
    const all = await Promise.all([
      run(runtime, args, { env, before: "mount --bind /dev/null /usr/bin/setpriv" }),
      run(runtime, args, { env, before: 'set -- setpriv --bounding-set=-setuid "$@"' }),
    ]);
    for (const { exitCode, json } of all) {
      expect(exitCode).toBe(3);
      expect(json.error).toMatchObject({
        code: "ACCOUNT_UNAVAILABLE",
        hint: expect.stringContaining("--as-is"),
      });
    }
    expect(facts).toThrow("ENOENT");
  });

  tried("becomes the account although its starter ignores the ends of children", async () => {
    const { env, facts } = witness(host, `unseen-${runtime}`);
    const before = 'set -- env --ignore-signal=CHLD "$@"';
    const [migrate, list, doctor] = await Promise.all([
      run(runtime, ["migrate", "--status", "--json"], { env, before }),
      run(runtime, ["secret", "list", "--json"], { before }),
      run(runtime, ["doctor", "weekly", "--json"], { before }),
    ]);
    expect([migrate.exitCode, (migrate.json.error as { code: string }).code]).toEqual([3, "CONFIG_INVALID"]);
    expect(field(facts(), "Uid")).toStartWith(`${ACCOUNT.uid}\t`);
    // What the command itself starts knows how its children end, too.
    expect(BigInt(`0x${field(facts(), "SigIgn")}`) & (1n << 16n)).toBe(0n);
    expect([list.exitCode, list.json.problems]).toEqual([0, []]);
    const said = (doctor.json.findings as Finding[]).find(({ check }) => check === "service account");
    expect(said).toMatchObject({ status: "pass", reason: "account opsctl exists" });
  });

  tried("hands the owner's login over where no list of processes shows it", async () => {
    const database = await startSilentPeer();
    const url = `postgres://owner:canary-of-the-owner@127.0.0.1:${database.port}/app`;
    const running = await start(runtime, ["migrate", "--status", "--json"], {
      env: { MIGRATE_DATABASE_URL: url, DATABASE_URL: "postgres://run@127.0.0.1:1/app" },
    });
    let log = "";
    running.child.stderr!.on("data", (text: string) => {
      log += text;
    });
    await until("a connection", () => database.connections > 0);
    const child = readFileSync(`/proc/${running.pid}/task/${running.pid}/children`, "utf8").split(" ")[0]!;
    expect(lstatSync(`/proc/${child}`).uid).toBe(ACCOUNT.uid);
    for (const name of ["environ", "cmdline"])
      expect(readFileSync(`/proc/${child}/${name}`, "utf8")).not.toContain("canary-of-the-owner");
    // Written beside the connection: either may come first.
    await until("the log", () => log.includes("variable=MIGRATE_DATABASE_URL from=environment"));
    running.kill("SIGTERM");
    const { stderr } = await running.ended;
    expect(stderr).not.toContain("canary-of-the-owner");
    await database.stop();
  });

  tried("passes SIGTERM on, and ends as its child ends", async () => {
    await using hanging = await startHanging(runtime);
    const { running } = hanging;
    running.kill("SIGTERM");
    const { exitCode, json } = await running.ended;
    expect([exitCode, (json.error as { code: string }).code]).toEqual([1, "RUN_INTERRUPTED"]);
  });

  tried("does not leave its child running when it is killed", async () => {
    await using hanging = await startHanging(runtime);
    const { running, child } = hanging;
    expect(lstatSync(`/proc/${child}`).uid).toBe(ACCOUNT.uid);
    running.kill("SIGKILL");
    await until("the end of the child", () => !existsSync(`/proc/${child}`));
    expect((await running.ended).signal).toBe("SIGKILL");
  });

  tried("ends by the signal that ended its child", async () => {
    await using hanging = await startHanging(runtime);
    const { running, child } = hanging;
    process.kill(child, "SIGKILL");
    expect(await running.ended).toMatchObject({ exitCode: null, signal: "SIGKILL" });
  });

  tried("asks its child to reload as often as it is asked, and lets it live", async () => {
    const [state, folder] = [host.make(`reload-state-${runtime}`, 0o700, ACCOUNT.uid), `reload-${runtime}`];
    host.make(folder);
    const settings = [
      ...["WEBHOOK_SECRET=a", "MESSAGING_API_URL=http://127.0.0.1:9", "MESSAGING_API_KEY=b"],
      ...["MESSAGING_PHONE=5511912345678", "ISSUE_TRACKER_TOKEN=c", "ISSUE_TRACKER_TEAM_ID=d"],
      ...[`OPSCTL_STATE_DIR=${state}`, `OPSCTL_SECRETS_DIR=${state}`, ""],
    ];
    host.put(`${folder}/webhook.env`, settings.join("\n"), 0o600, ACCOUNT.uid);
    const ports = ["--host", "127.0.0.1", "--port", `${await freePort()}`, "--admin-port", "0"];
    const env = { OPSCTL_ENV_DIR: host.path(folder) };
    const running = await start(runtime, ["webhook", "serve", ...ports], { env });
    let log = "";
    running.child.stderr!.on("data", (text: string) => {
      log += text;
    });
    await until("the service listens", () => log.includes("Listening for alerts"));
    // As long as a child may live that is to be killed.
    const overMs = performance.now() + 1_500;
    for (let reloads = 1; performance.now() < overMs; reloads += 1) {
      running.kill("SIGHUP");
      await until("the reload", () => log.split("are in force").length > reloads);
    }
    running.kill("SIGTERM");
    expect(await running.ended).toMatchObject({ exitCode: 0, signal: null });
  });

  tried("stops and goes on with its child", async () => {
    await using hanging = await startHanging(runtime);
    const { running, child } = hanging;
    const pids = [running.pid, child];
    const states = () => pids.map((pid) => readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.[0]);
    running.kill("SIGTSTP");
    await until("both to stop", () => states().join("") === "TT");
    running.kill("SIGCONT");
    await until("both to go on", () => !states().includes("T"));
    running.kill("SIGTERM");
    expect((await running.ended).exitCode).toBe(1);
  });

  tried("ends when it is told so, although the account stopped its child", async () => {
    await using hanging = await startHanging(runtime);
    const { running, child } = hanging;
    process.kill(child, "SIGSTOP");
    await until("the stop", () => readFileSync(`/proc/${child}/stat`, "utf8").includes(") T"));
    running.kill("SIGINT");
    await until("the end", () => !existsSync(`/proc/${child}`));
    expect((await running.ended).exitCode).toBe(1);
  });

  tried(
    "ends when it is told twice, although the account holds its child and the news of its end",
    async () => {
      await using hanging = await startHanging(runtime);
      const { running, child } = hanging;
      const state = () => readFileSync(`/proc/${child}/stat`, "utf8").split(") ")[1]?.[0];
      const tracer = Bun.spawn([...AS_ACCOUNT, "perl", "-e", HOLDS, PTRACE, String(child)]);
      try {
        // Where one process may not trace another (Yama), no process can hold the child either.
        const { value } = await tracer.stdout.getReader().read();
        if (!new TextDecoder().decode(value).startsWith("held")) return running.kill("SIGKILL");
        await until("the hold", () => state() === "t");
        let end: Ended | undefined;
        void running.ended.then((ended) => {
          end = ended;
        });
        await until("the end", () => {
          // Two that come at the same moment count as one.
          running.kill("SIGTERM");
          return end !== undefined;
        });
        expect(end?.exitCode).toBeNull();
        // A SIGTERM that arrives between the last handler and the SIGKILL ends the process just as well.
        expect(["SIGKILL", "SIGTERM"]).toContain(`${end?.signal}`);
        expect(state()).toBe("Z");
      } finally {
        running.kill("SIGKILL");
        tracer.kill("SIGKILL");
        await tracer.exited;
      }
    },
  );

  tried("says that its result is lost where there is no standard output", async () => {
    const { exitCode, stdout, stderr } = await run(runtime, ["alert-rules", "export"], {
      before: "exec >&-",
    });
    // Deno opens the null device in its place, which looks like one that was passed to it.
    if (runtime === "deno") return expect([exitCode, stdout]).toEqual([0, ""]);
    expect([exitCode, stdout]).toEqual([1, ""]);
    expect(stderr).toContain("standard output");
  });

  tried("has root's terminal for its output alone: it can neither read there nor type", async () => {
    const { env } = witness(host, `terminal-${runtime}`);
    const line = (await host.opsctl(runtime, ["migrate", "--status"])).map((word) => `'${word}'`).join(" ");
    const words = host.inside(["script", "--quiet", "--return", "--command", line, "/dev/null"]);
    const { exitCode, stdout } = await startProgram(words, {
      cwd: "/",
      env: { PATH: "/usr/bin:/bin", HOME: host.folder, TERM: "xterm", DENO_DIR: denoCache(), ...env },
    }).ended;
    expect(exitCode).toBe(3);
    // As people read it, not as JSON: the child has seen that a terminal is there.
    expect(stdout).toContain("Cannot start: 1 setting is missing or invalid");
    expect(stdout).not.toContain('{"time"');
    const [tty, ...streams] = readFileSync(host.path(`terminal-${runtime}-facts/facts-tty`), "utf8").split(
      "\n",
    );
    expect(tty).toBe("0");
    // O_WRONLY is 1: nothing that is typed can be read through what the child has.
    expect(streams[0]).toBe("/dev/null");
    expect(streams.slice(2, 6)).toEqual([streams[2]!, "1", streams[2]!, "1"]);
    expect(streams[2]).toStartWith("/dev/pts/");
  });
});

describe.concurrent(`a command that root starts, whatever runs it${UNTRIED}`, () => {
  const tried = test.skipIf(!canHaveAccount);

  tried("leaves a file alone to which the account has led a name of the state", async () => {
    const state = host.make("state", 0o700, ACCOUNT.uid);
    const victim = host.put("victim", "root's own\n");
    for (const name of ["state.lock", "dispatcher.lock", "state.db"]) symlinkSync(victim, `${state}/${name}`);
    const { exitCode } = await run("binary", ["webhook", "dead", "list", "--json"], {
      env: { OPSCTL_STATE_DIR: state },
    });
    expect(exitCode).toBe(3);
    expect(readFileSync(victim, "utf8")).toBe("root's own\n");
  });

  tried("reads the account's settings file, as the account", async () => {
    const state = host.make("settings-state", 0o700, ACCOUNT.uid);
    const folder = host.make("settings");
    host.put("settings/webhook.env", `OPSCTL_STATE_DIR=${state}\n`, 0o600, ACCOUNT.uid);
    const list = (...more: string[]) =>
      run("binary", ["webhook", "dead", "list", "--json", ...more], { env: { OPSCTL_ENV_DIR: folder } });
    const { exitCode, json } = await list();
    expect([exitCode, json.dead]).toEqual([0, []]);
    expect(readdirSync(state)).toContain("state.db");
    const asRoot = (await list("--as-is")).json.error as { code: string; hint: string };
    expect(asRoot.code).toBe("SECRET_FILE_UNTRUSTED");
    expect(asRoot.hint).toContain("Run it as root without --as-is");
  });

  tried("says what is wrong with its arguments as root, and becomes no account", async () => {
    const before = "mount --bind /dev/null /usr/bin/setpriv";
    const { exitCode, stderr } = await run("binary", ["weekly", "--dryrun"], { before });
    expect([exitCode, stderr.includes("did you mean --dry-run")]).toEqual([2, true]);
    expect((await run("binary", ["weekly", "--help"], { before })).exitCode).toBe(0);
  });

  tried("names the owner's login of the terminal when root's secret file overrules it", async () => {
    const [etc, secrets] = ["etc", "etc/opsctl/root-secrets"];
    host.make(secrets, 0o700);
    host.put(`${secrets}/MIGRATE_DATABASE_URL`, "postgres://owner:canary-file@127.0.0.1:1/app");
    const { stderr } = await run("binary", ["migrate", "--status", "--json"], {
      env: { MIGRATE_DATABASE_URL: "postgres://other:canary-typed@127.0.0.1:1/app" },
      before: `cp /etc/passwd /etc/group /etc/nsswitch.conf "$0/${etc}"; mount --bind "$0/${etc}" /etc`,
    });
    expect(stderr).toContain("A variable is not used");
    expect(stderr).toContain(
      `variable=MIGRATE_DATABASE_URL from=environment used="secret file /etc/opsctl/root-secrets/MIGRATE_DATABASE_URL"`,
    );
    expect(stderr).not.toContain("canary");
  });

  tried(
    "gives nothing of root's away in a list of secrets, whatever directory the account names",
    async () => {
      const wanted = ["/root", "/etc/opsctl/root-secrets", "/etc/opsctl/root-two", "/srv/opsctl/secrets"];
      const listed = wanted.map(async (directory, at) => {
        const etc = host.make(`hostile-${at}`);
        host.make(`hostile-${at}/opsctl`);
        host.put(`hostile-${at}/opsctl/weekly.env`, `OPSCTL_SECRETS_DIR=${directory}\n`, 0o600, ACCOUNT.uid);
        for (const name of ["root-secrets", "root-two"]) {
          const folder = host.make(`hostile-${at}/opsctl/${name}`);
          writeFileSync(`${folder}/DATABASE_URL`, "canary", { mode: 0o644 });
          chownSync(folder, 0, ACCOUNT.gid);
          chmodSync(folder, 0o750);
        }
        const { json } = await run("binary", ["secret", "list", "--json"], {
          before:
            `cp /etc/passwd /etc/group /etc/nsswitch.conf ${etc}; mount --bind ${etc} /etc; mount -t tmpfs none /srv; ` +
            `mount -t tmpfs -o mode=700 none /root; mkdir -p /srv/opsctl/secrets; touch /srv/opsctl/secrets/DATABASE_URL; ` +
            `chgrp ${ACCOUNT.gid} /srv/opsctl/secrets; chmod 750 /srv/opsctl/secrets; chmod 755 /srv`,
        });
        const { secrets, problems } = json as unknown as SecretList;
        return [...secrets.flatMap((secret) => secret.problems), ...problems].map(({ mend }) => mend);
      });
      const [root, roots, two, given] = await Promise.all(listed);
      for (const mends of [root, roots, two]) {
        expect(mends?.length).toBeGreaterThan(0);
        for (const mend of mends ?? []) expect(mend).toStartWith("Correct OPSCTL_SECRETS_DIR: /");
      }
      expect(given).toEqual([
        "chown -h opsctl:opsctl /srv/opsctl/secrets/DATABASE_URL && chmod 0600 /srv/opsctl/secrets/DATABASE_URL",
      ]);
    },
  );

  tried("knows no account to become where that name is root's own number", async () => {
    using other = openAccountHost({ account: false });
    other.put("passwd", `opsctl:x:0:0::/:/bin/sh\n${readFileSync(other.path("passwd"), "utf8")}`, 0o644);
    const { env, facts } = witness(other, "root-by-name");
    const { exitCode } = await run("binary", ["migrate", "--status"], { env, on: other });
    expect([exitCode, field(facts(), "Uid")]).toEqual([3, "0\t0\t0\t0"]);
  });
});

/** Has a list of the host with these lines more, on top. */
function withLines(on: AccountHost, list: "passwd" | "group", name: string, lines: string | Buffer): string {
  const all = Buffer.concat([Buffer.from(lines), readFileSync(on.path(list))]);
  writeFileSync(on.path(`${name}.${list}`), all, { mode: 0o644 });
  return `mount --bind "$0/${name}.${list}" /etc/${list}`;
}

describe.concurrent(`the groups of a command that root starts${UNTRIED}`, () => {
  const tried = test.skipIf(!canHaveAccount);
  const own = [ACCOUNT.gid, ACCOUNT.extraGid];

  /** The groups that the account has, of which /etc/group has these lines more. */
  async function groupsWith(name: string, lines: string | Buffer): Promise<number[]> {
    const { env, facts } = witness(host, `groups-${name}`);
    const before = withLines(host, "group", name, lines);
    expect((await run("binary", ["migrate", "--status"], { env, before })).exitCode).toBe(3);
    const groups = field(facts(), "Groups")?.trim().split(" ").map(Number) ?? [];
    return groups.sort((a, b) => a - b);
  }

  tried("are without a line that the C library does not take", async () => {
    const lines = "bad:x:abc:opsctl\nbad:x::opsctl\nbad:x:4294967295:opsctl\nbad:x:4294967296:opsctl\n";
    expect(await groupsWith("bad", lines)).toEqual(own);
  });

  tried("are those of a name that is no UTF-8, too", async () => {
    expect(await groupsWith("latin", Buffer.from("caf\xe9:x:64003:opsctl\n", "latin1"))).toEqual([
      ...own,
      64003,
    ]);
  });

  tried("are without root's own", async () => {
    expect(await groupsWith("of-root", "wheel:x:0:opsctl\n")).toEqual(own);
  });

  tried("can be 10,000 with long names", async () => {
    const numbers = Array.from({ length: 10_000 }, (_, index) => 70_000 + index);
    const lines = numbers.map((number) => `${"team".repeat(10)}-${number}:x:${number}:opsctl\n`);
    expect(await groupsWith("many", lines.join(""))).toEqual([...own, ...numbers]);
  });
});

describe.concurrent(`an account that root does not become${UNTRIED}`, () => {
  const tried = test.skipIf(!canHaveAccount);

  async function refusalOf(before: string, env: Record<string, string> = {}): Promise<string> {
    const { exitCode, json } = await run("binary", ["migrate", "--status", "--json"], { before, env });
    const { code, message } = json.error as { code: string; message: string };
    expect([exitCode, code]).toEqual([3, "ACCOUNT_UNAVAILABLE"]);
    return message;
  }

  tried.each([
    ["changes nothing", "4294967295:64001", "4294967295"],
    ["is root's own group", "64001:0", "its group is root's own, number 0"],
  ])("has a number that %s", async (_why, numbers, reason) => {
    const name = `number-${numbers.replace(":", "-")}`;
    const before = withLines(host, "passwd", name, `opsctl:x:${numbers}::/:/bin/sh\n`);
    expect(await refusalOf(before)).toContain(reason);
  });

  tried("is one as which this process was started, and is root still", async () => {
    const name = "only-the-trial.setpriv";
    const script = 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"';
    const isTrial = `case "$*" in *" /proc/self/status") exec ${host.path(`${name}.real`)} "$@" ;; esac`;
    host.put(name, `#!/bin/sh\n${isTrial}\n${script}\n`, 0o755);
    const before = `cp /usr/bin/setpriv "$0/${name}.real"; mount --bind "$0/${name}" /usr/bin/setpriv`;
    expect(await refusalOf(before)).toContain("was started as that account, and is root still");
  });

  tried.each(["root", "root:1:1", "root:1:", "of-a-person"])(
    "is become although a shell has exported the mark %j",
    async (mark) => {
      const { env, facts } = witness(host, `marked-${mark.length}`);
      await run("binary", ["migrate", "--status"], { env: { ...env, OPSCTL_STARTED_BY: mark } });
      expect(field(facts(), "Uid")).toStartWith(`${ACCOUNT.uid}\t`);
      expect(facts()).toMatch(/\nOPSCTL_STARTED_BY=root:[0-9]+:[0-9]+\n/);
    },
  );

  tried("is none that a container without the privilege for it has", async () => {
    const before = 'set -- setpriv --bounding-set=-setuid,-setgid "$@"';
    const message = await refusalOf(before);
    expect(message).toContain("root by its number alone, without CAP_SETUID and CAP_SETGID");
    expect(message).toEndWith("setpriv ended with 127: setresuid failed: Operation not permitted");
  });

  tried.skipIf(!canMap)("is none of a user namespace that does not map it", async () => {
    const message = await refusalOf('set -- unshare --user --map-root-user "$@"');
    expect(message).toContain(
      `root of a user namespace only, as in a container without root, and it has no user ${ACCOUNT.uid} and no group ${ACCOUNT.gid}`,
    );
    expect(message).toEndWith("setresuid failed: Invalid argument");
  });

  tried("is told by doctor and by the list of secrets as by any command, but for --as-is", async () => {
    const before = 'set -- setpriv --bounding-set=-setuid "$@"';
    const [doctor, list] = await Promise.all(
      [["doctor"], ["secret", "list"]].map((words) => run("binary", [...words, "--json"], { before })),
    );
    const why = /^ACCOUNT_UNAVAILABLE: .*without CAP_SETUID .*setresuid failed: Operation not permitted$/;
    const findings = doctor!.json.findings as Finding[];
    const about = findings.filter(({ check }) => check === "service account");
    expect([doctor!.exitCode, about.map(({ command }) => command)]).toEqual([
      3,
      ["weekly", "webhook", "socket-monitor", "alert-rules", "migrate", "reports", "deliveries"],
    ]);
    const told = { why: expect.stringMatching(why), mend: expect.stringContaining("--user opsctl") };
    for (const { reason, mend } of about) expect({ why: reason, mend }).toEqual(told);
    expect([list!.exitCode, list!.json.problems]).toMatchObject([0, [told]]);
    expect(doctor!.stdout + list!.stdout).not.toContain("--as-is");
    // What is root's own is looked at all the same.
    expect(findings.some(({ command }) => command === "collect-metrics")).toBe(true);
  });

  tried(
    "is not become by doctor and the list of secrets either where it would keep root's group",
    async () => {
      const before = withLines(host, "group", "kept", "wheel:x:0:opsctl\na,c:x:64005:opsctl\n");
      const [doctor, list] = await Promise.all(
        [
          ["doctor", "weekly"],
          ["secret", "list"],
        ].map((words) => run("binary", [...words, "--json"], { before })),
      );
      const why = expect.stringContaining("root's own group, number 0, is among its groups");
      expect(doctor!.json.findings).toMatchObject([
        { check: "service account", status: "fail", reason: why },
      ]);
      expect(list!.json.problems).toMatchObject([{ why }]);
    },
  );

  tried("has root's own group among groups that cannot be listed", async () => {
    const before = withLines(host, "group", "unlisted", "wheel:x:0:opsctl\na,b:x:64004:opsctl\n");
    expect(await refusalOf(before)).toContain("root's own group, number 0, is among its groups");
  });

  tried.each([
    [
      "fails with the status of a command",
      "echo 'setpriv: no such group' >&2; exit 1",
      "ended with 1: no such group",
    ],
    // A process of the account can write there, too, once the trial runs as the account.
    [
      "says what looks like advice",
      "echo 'setpriv: x -> sudo sh /x' >&2; exit 1",
      "ended with 1: x - sudo sh /x",
    ],
    ["ends well and has done nothing", "exit 0", "setpriv ended with 0"],
    [
      "gives other numbers",
      'while [ "$1" != -- ]; do shift; done; shift; exec "$@"',
      "setpriv gave other numbers",
    ],
  ])("is one for which setpriv %s", async (why, script, reason) => {
    const name = `${why.replaceAll(" ", "-")}.setpriv`;
    host.put(name, `#!/bin/sh\n${script}\n`, 0o755);
    expect(await refusalOf(`mount --bind "$0/${name}" /usr/bin/setpriv`)).toContain(reason);
  });
});

/**
 * A host whose directory service hangs: `getent` waits whenever it is asked, and setpriv when it is given a number,
 * which it takes for a name first, or has to find out the groups.
 *
 * Source: measured with an NSS module that sleeps, glibc 2.36, util-linux 2.38.1.
 */
function hangingDirectory(passwd: string, { getent = "exec sleep 3600" }: { getent?: string } = {}): string {
  const name = `hangs-${passwd.replaceAll(" ", "-")}-${getent.length}`;
  const number = "*--reuid=[0-9]*|*--regid=[0-9]*|*--groups=[0-9]*|*--init-groups*";
  host.put(`${name}.conf`, `passwd: ${passwd}\ngroup: ${passwd}\n`, 0o644);
  host.put(`${name}.getent`, `#!/bin/sh\n${getent}\n`, 0o755);
  host.put(
    `${name}.setpriv`,
    `#!/bin/sh\ncase "$*" in ${number}) exec sleep 3600 ;; esac\nexec ${host.path(`${name}.real`)} "$@"\n`,
    0o755,
  );
  return [
    `cp /usr/bin/setpriv "$0/${name}.real"`,
    ...["getent", "setpriv"].map((program) => `mount --bind "$0/${name}.${program}" /usr/bin/${program}`),
    `mount --bind "$0/${name}.conf" /etc/nsswitch.conf`,
  ].join("\n");
}

describe.concurrent(`where a directory service hangs${UNTRIED}`, () => {
  const tried = test.skipIf(!canHaveAccount);

  tried("an account of the host's own files is become without asking it, with its groups", async () => {
    const { env, facts } = witness(host, "local");
    await run("binary", ["migrate", "--status"], { env, before: hangingDirectory("files sss") });
    const { uid, gid, extraGid } = ACCOUNT;
    expect(field(facts(), "Uid")).toBe([uid, uid, uid, uid].join("\t"));
    expect(field(facts(), "Gid")).toBe([gid, gid, gid, gid].join("\t"));
    expect(facts()).toContain(`\n${gid} ${extraGid}\n`);
  });

  tried("`status` ends in time when the service does not say whether there is the account", async () => {
    const before = hangingDirectory("sss files");
    const { exitCode, json } = await run("binary", ["status", "--json"], { before });
    expect(exitCode).toBe(3);
    expect(json.error).toMatchObject({
      code: "ACCOUNT_UNAVAILABLE",
      message: "Cannot look up the account opsctl: getent did not end within 0.8 s",
    });
  });

  tried("`secret list` says within two seconds that it hangs", async () => {
    const before = hangingDirectory("sss files", { getent: ": secret list; exec sleep 3600" });
    const { exitCode, json } = await run("binary", ["secret", "list", "--json"], { before });
    expect([exitCode, json.error]).toMatchObject([
      3,
      {
        code: "ACCOUNT_UNAVAILABLE",
        message: "Cannot look up the account opsctl: getent did not end within 2 s",
        hint: "See that the directory services of /etc/nsswitch.conf answer: getent passwd opsctl",
      },
    ]);
  });

  tried("`doctor` says so after one question, and looks at what is root's", async () => {
    const asked = host.path("asked-by-doctor");
    const before = hangingDirectory("sss files", { getent: `echo >> ${asked}; exec sleep 3600` });
    const { exitCode, json } = await run("binary", ["doctor", "--json"], { before });
    const findings = json.findings as Finding[];
    const reason = "ACCOUNT_UNAVAILABLE: getent did not end within 2 s";
    const told = findings.filter((finding) => finding.reason === reason);
    expect([exitCode, told.map(({ check }) => check)]).toEqual([3, Array(7).fill("service account")]);
    expect(findings.some(({ command }) => command === "collect-metrics")).toBe(true);
    expect(readFileSync(asked, "utf8")).toBe("\n");
  });

  tried("`doctor` asks it once, also for an account that nobody has", async () => {
    using other = openAccountHost({ account: false });
    const asked = other.path("asked");
    other.put("asks.conf", "passwd: sss files\ngroup: sss files\n", 0o644);
    other.put("asks.getent", `#!/bin/sh\necho >> ${asked}\nexit 2\n`, 0o755);
    const before =
      'mount --bind "$0/asks.getent" /usr/bin/getent; mount --bind "$0/asks.conf" /etc/nsswitch.conf';
    const { json } = await run("binary", ["doctor", "weekly", "--json"], { before, on: other });
    const said = (json.findings as Finding[]).find(({ check }) => check === "service account");
    expect(said?.reason).toContain("there is no account opsctl on this host");
    expect(readFileSync(asked, "utf8")).toBe("\n");
  });

  tried("`doctor` ends, too, when the service names the account and setpriv waits for it", async () => {
    const before = hangingDirectory("sss files", { getent: ': doctor; grep "^$2:" "/etc/$1"' });
    const { exitCode, json } = await run("binary", ["doctor", "weekly", "--json"], { before });
    expect([exitCode, json.findings]).toMatchObject([
      3,
      [{ reason: expect.stringMatching(/^ACCOUNT_UNAVAILABLE: setpriv did not end within [12](\.\d)? s$/) }],
    ]);
  });

  tried("a command ends, too, when the service names the account and setpriv waits for it", async () => {
    const getent = 'grep "^$2:" "/etc/$1"';
    const { env, facts } = witness(host, "waits");
    const before = hangingDirectory("sss files", { getent });
    const { exitCode, json } = await run("binary", ["migrate", "--status", "--json"], { env, before });
    expect(exitCode).toBe(3);
    expect(json.error).toMatchObject({
      code: "ACCOUNT_UNAVAILABLE",
      message: expect.stringContaining("setpriv did not end within 5 s"),
      hint: expect.stringContaining("--as-is"),
    });
    expect(facts).toThrow("ENOENT");
  });
});

describe(`a command whose sources are closed to the account${UNTRIED}`, () => {
  test.skipIf(!canHaveAccount).each(["bun", "deno"] as const)("says so, on %s", async (runtime) => {
    const before = 'chmod 0700 "$0"';
    using closed = openAccountHost({ ownClone: true });
    const { exitCode, json } = await run(runtime, ["migrate", "--json"], { before, on: closed });
    expect(exitCode).toBe(3);
    expect(json.error).toMatchObject({
      code: "ACCOUNT_UNAVAILABLE",
      message: expect.stringContaining("may not read"),
      hint: expect.stringContaining("--as-is"),
    });
  });
});

function weeklyEnv(port: number): Record<string, string> {
  return {
    DATABASE_URL: `postgres://u:p@127.0.0.1:${port}/app?sslmode=disable`,
    OPSCTL_SECRETS_DIR: host.path("no-secrets"),
    TRIGGER_SECRET: "trigger-secret",
    APP_BASE_URL: "http://127.0.0.1:9",
    GATEWAY_URL: "http://127.0.0.1:9",
    GATEWAY_ADMIN_KEY: "gateway-key",
    EMAIL_API_KEY: "re_key",
  };
}
