/** What root starts and what belongs to the account `opsctl`, on a machine that has the account. */
import { afterAll, beforeAll, describe, expect } from "bun:test";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import type { Finding } from "../../../lib/doctor/context.ts";
import type { SecretList } from "../../../lib/secret/list.ts";
import { holdSocket } from "../../platform/support/held-socket.ts";
import { startSilentPeer } from "../../standins/raw-peer.ts";
import { ACCOUNT, type AccountHost, openAccountHost } from "../../support/account-host.ts";
import { requires } from "../../support/requires.ts";
import { until } from "../../support/until.ts";
import { type Ended, type Running, startProgram } from "../support/opsctl.ts";
import { openWebhookArena, postAlerts } from "../support/serve.ts";
import { startOnTerminal } from "../support/terminal.ts";

const { test } = requires("account");

let host: AccountHost;
beforeAll(() => {
  host = openAccountHost();
});
afterAll(() => host[Symbol.dispose]());

type How = { env?: Record<string, string>; before?: string; on?: AccountHost; runtime?: "binary" | "bun" };

/** Starts opsctl there; `before` is what root's shell does first. */
async function start(
  args: string[],
  { env, before, on = host, runtime = "binary" }: How = {},
): Promise<Running> {
  const words = on.inside(await on.opsctl(runtime, args), before);
  return startProgram(words, { cwd: "/", env: { PATH: "/usr/bin:/bin", HOME: on.folder, ...env } });
}

async function run(args: string[], how: How = {}): Promise<Ended> {
  return await (await start(args, how)).ended;
}

const errorOf = ({ json }: Ended) => json.error as { code: string; message: string; hint: string };

/** A secret command that writes down what it is, and the variables that make the command ask it. */
function witness(
  on: AccountHost,
  name: string,
): { env: Record<string, string>; facts(): string; open(): string } {
  const out = `${on.make(`${name}-facts`, 0o1777)}/facts`;
  const script = [
    `{ cat /proc/self/status; id -G; env; echo "Cwd: $(readlink /proc/self/cwd)"; } > ${out}`,
    `ls -l /proc/$PPID/fd /proc/self/fd > ${out}-open || true`,
  ];
  const command = on.put(`${name}.sh`, `#!/bin/sh\n${script.join("\n")}\n`, 0o755);
  const env = { OPSCTL_SECRETS_COMMAND: command, OPSCTL_SECRETS_DIR: on.path("no-secrets") };
  return { env, facts: () => readFileSync(out, "utf8"), open: () => readFileSync(`${out}-open`, "utf8") };
}

const field = (facts: string, name: string) => new RegExp(`^${name}:\\s*(.*)$`, "m").exec(facts)?.[1];
const four = (number: number) => Array(4).fill(number).join("\t");

/** Has a list of the host with these lines more, on top. */
function withLines(list: "passwd" | "group", name: string, lines: string): string {
  writeFileSync(host.path(`${name}.${list}`), lines + readFileSync(host.path(list), "utf8"), { mode: 0o644 });
  return `mount --bind "$0/${name}.${list}" /etc/${list}`;
}

describe("a command that root starts", () => {
  for (const runtime of ["binary", "bun"] as const)
    test(`has become the account before it asks for a secret, without a way back, on ${runtime}`, async () => {
      const { env, facts } = witness(host, `become-${runtime}`);
      const ended = await run(["migrate", "--status", "--json"], {
        ...{ env: { ...env, OF_ROOT: "passed on", HOSTING_TOKEN: "roots-own-token" }, runtime },
        before: 'cd "$0"',
      });
      expect([ended.exitCode, errorOf(ended).code]).toEqual([3, "CONFIG_INVALID"]);
      const { uid, gid, extraGid } = ACCOUNT;
      expect([field(facts(), "Uid"), field(facts(), "Gid")]).toEqual([four(uid), four(gid)]);
      expect(facts()).toContain(`\n${gid} ${extraGid}\n`);
      for (const set of ["CapPrm", "CapEff", "CapAmb"]) expect(field(facts(), set)).toBe("0000000000000000");
      expect(facts()).toContain("\nHOME=/var/lib/opsctl\n");
      expect(facts()).toContain("\nOF_ROOT=passed on\n");
      expect(facts()).not.toContain("roots-own-token");
      expect(field(facts(), "Cwd")).toBe("/");
    });

  test("has nothing that root's shell had open", async () => {
    const { env, open } = witness(host, "open");
    const before = 'exec 7</etc/shadow 9>>"$0/of-root"';
    const { exitCode } = await run(["migrate", "--status"], { env, before });
    expect([exitCode, open().includes(" 0 -> ")]).toEqual([3, true]);
    expect(open()).not.toMatch(/shadow|of-root/);
  });

  test("starts ss without root's terminal, into which the account could type through it", async () => {
    const bin = host.make("bin-of-ss");
    const out = `${host.make("ss-facts", 0o1777)}/facts`;
    const look = "{ id -u; (: </dev/tty) && echo on a terminal; }";
    host.put("bin-of-ss/ss", `#!/bin/sh\n${look} >${out} 2>&1\n`, 0o755);
    const text = host.make("ss-text");
    const env = { PATH: `${bin}:/usr/bin:/bin`, TEXTFILE_DIR: text, OPSCTL_LOG_DIR: text, TERM: "xterm" };
    for (const [words, uid] of [
      [["doctor", "socket-monitor"], ACCOUNT.uid],
      [["collect-metrics", "--stdout"], 0],
    ] as const) {
      await startOnTerminal(host.inside(await host.opsctl("binary", words)), { env }).ended;
      const facts = readFileSync(out, "utf8");
      expect([facts.split("\n")[0], facts.includes("on a terminal")]).toEqual([`${uid}`, false]);
      rmSync(out);
    }
  });

  test("leaves no file of root's behind", async () => {
    const state = host.make("own", 0o700, ACCOUNT.uid);
    const { exitCode, json } = await run(["webhook", "dead", "list", "--json"], {
      env: { OPSCTL_STATE_DIR: state },
    });
    expect([exitCode, json.dead]).toEqual([0, []]);
    expect(new Set(readdirSync(state).map((name) => lstatSync(`${state}/${name}`).uid))).toEqual(
      new Set([ACCOUNT.uid]),
    );
  });

  test("reads the account's settings file, as the account", async () => {
    const state = host.make("settings-state", 0o700, ACCOUNT.uid);
    const folder = host.make("settings");
    host.put("settings/webhook.env", `OPSCTL_STATE_DIR=${state}\n`, 0o600, ACCOUNT.uid);
    const { exitCode, json } = await run(["webhook", "dead", "list", "--json"], {
      env: { OPSCTL_ENV_DIR: folder },
    });
    expect([exitCode, json.dead]).toEqual([0, []]);
    expect(readdirSync(state)).toContain("state.db");
  });

  test("stays root on a host without the account, and where that name is root's own number", async () => {
    using other = openAccountHost({ account: false });
    const without = witness(other, "without");
    await run(["migrate", "--status"], { env: without.env, on: other });
    expect(field(without.facts(), "Uid")).toBe(four(0));
    other.put("passwd", `opsctl:x:0:0::/:/bin/sh\n${readFileSync(other.path("passwd"), "utf8")}`, 0o644);
    const named = witness(other, "root-by-name");
    await run(["migrate", "--status"], { env: named.env, on: other });
    expect(field(named.facts(), "Uid")).toBe(four(0));
  });

  test("says what is wrong with its arguments as root, and becomes no account", async () => {
    const before = 'set -- setpriv --bounding-set=-setuid "$@"';
    const { exitCode, stderr } = await run(["weekly", "--dryrun"], { before });
    expect([exitCode, stderr.includes("did you mean --dry-run")]).toEqual([2, true]);
    expect((await run(["weekly", "--help"], { before })).exitCode).toBe(0);
  });
});

describe("a run that root has started", () => {
  /** A dry run at a database that says nothing, and the processes that it has. */
  async function startHanging() {
    const database = await startSilentPeer();
    const env = {
      DATABASE_URL: `postgres://u:p@127.0.0.1:${database.port}/app?sslmode=disable`,
      ...{ OPSCTL_SECRETS_DIR: host.path("no-secrets"), TRIGGER_SECRET: "trigger-secret" },
      ...{ APP_BASE_URL: "http://127.0.0.1:9", GATEWAY_URL: "http://127.0.0.1:9" },
      ...{ GATEWAY_ADMIN_KEY: "gateway-key", EMAIL_API_KEY: "re_key" },
    };
    const running = await start(["weekly", "--json", "--dry-run"], { env });
    await until("a connection", () => database.connections > 0);
    return { running, below: childrenOf(running), [Symbol.asyncDispose]: () => database.stop() };
  }

  test("ends with what it has at SIGTERM", async () => {
    await using hanging = await startHanging();
    hanging.running.kill("SIGTERM");
    const ended = await hanging.running.ended;
    expect([ended.exitCode, errorOf(ended).code]).toEqual([1, "RUN_INTERRUPTED"]);
  });

  test("is one process, which the account's name belongs to", async () => {
    await using hanging = await startHanging();
    expect(hanging.below).toEqual([]);
    const status = readFileSync(`/proc/${hanging.running.pid}/status`, "utf8");
    expect([field(status, "Uid"), field(status, "Gid")]).toEqual([four(ACCOUNT.uid), four(ACCOUNT.gid)]);
    const threads = readdirSync(`/proc/${hanging.running.pid}/task`);
    const uids = threads.map((id) => readFileSync(`/proc/${hanging.running.pid}/task/${id}/status`, "utf8"));
    expect(new Set(uids.map((text) => field(text, "Uid")))).toEqual(new Set([four(ACCOUNT.uid)]));
    expect(new Set(uids.map((text) => field(text, "CapEff")))).toEqual(new Set(["0000000000000000"]));
    hanging.running.kill("SIGKILL");
    expect((await hanging.running.ended).signal).toBe("SIGKILL");
  });

  test("webhook serve keeps the socket that systemd holds for it", async () => {
    await using arena = await openWebhookArena();
    chownSync(arena.directory, ACCOUNT.uid, ACCOUNT.gid);
    const held = holdSocket();
    const words = ["--host", "127.0.0.1", "--port", `${held.port}`, "--admin-port", "0"];
    const before = "export LISTEN_PID=$$ LISTEN_FDS=1 LISTEN_FDNAMES=webhook";
    const running = startProgram(
      host.inside(await host.opsctl("binary", ["webhook", "serve", ...words]), before),
      { cwd: "/", env: { PATH: "/usr/bin:/bin", ...arena.env }, handedOver: held.fd },
    );
    let log = "";
    running.child.stderr!.on("data", (text: string) => {
      log += text;
    });
    await until("the service listens", () => log.includes("Listening for alerts") || log.includes("FAILED"));
    const status = readFileSync(`/proc/${running.pid}/status`, "utf8");
    expect(field(status, "Uid"), log).toBe(four(ACCOUNT.uid));
    const alerts = { alerts: [{ status: "firing", labels: { alertname: "DiskFull" } }] };
    const answer = await postAlerts(`http://127.0.0.1:${held.port}/webhook`, alerts);
    expect(answer).toMatchObject({ status: 200 });
    running.kill("SIGTERM");
    expect((await running.ended).exitCode).toBe(0);
    held.close();
  });
});

describe("the owner's login that root alone has", () => {
  test("can be read by no process of the account while it is used, and stands in no list of processes", async () => {
    const database = await startSilentPeer();
    const url = `postgres://owner:canary-of-the-owner@127.0.0.1:${database.port}/app`;
    const running = await start(["migrate", "--status", "--json"], {
      env: { MIGRATE_DATABASE_URL: url, DATABASE_URL: "postgres://run@127.0.0.1:1/app" },
    });
    await until("a connection", () => database.connections > 0);
    const { pid } = running;
    expect(field(readFileSync(`/proc/${pid}/status`, "utf8"), "Uid")).toBe(four(ACCOUNT.uid));
    expect(readFileSync(`/proc/${pid}/cmdline`, "utf8")).not.toContain("canary");
    const asAccount = ["setpriv", `--reuid=${ACCOUNT.uid}`, `--regid=${ACCOUNT.gid}`, "--clear-groups"];
    const tried = (words: string[]) => Bun.spawnSync([...asAccount, ...words], { stderr: "pipe" });
    for (const words of [
      ["cat", `/proc/${pid}/environ`],
      ["head", "-c", "1", `/proc/${pid}/mem`],
      ["ls", `/proc/${pid}/fd`],
      ["cat", `/proc/${pid}/maps`],
    ]) {
      const { exitCode, stdout, stderr } = tried(words);
      expect([exitCode === 0, stdout.toString()], words.join(" ")).toEqual([false, ""]);
      expect(stderr.toString()).toContain("Permission denied");
    }
    // Of a dump of its memory, too, which systemd-coredump may give to the account.
    expect(readFileSync(`/proc/${pid}/coredump_filter`, "utf8").trim()).toBe("00000000");
    running.kill("SIGTERM");
    expect((await running.ended).stderr).not.toContain("canary-of-the-owner");
    await database.stop();
  });

  test("is given to no program that the account chose, whose settings do not count before it", async () => {
    const out = `${host.make("chosen-facts", 0o1777)}/facts`;
    const script = `#!/bin/sh\n{ cat /proc/self/status; env; } >> ${out}\n`;
    const vault = host.put("chosen.sh", script, 0o755, ACCOUNT.uid);
    const folder = host.make("chosen");
    const own = "MIGRATE_DATABASE_URL=postgres://other@127.0.0.1:1/app\nAPP_BASE_URL=http://127.0.0.1:1";
    host.put("chosen/weekly.env", `OPSCTL_SECRETS_COMMAND=${vault}\n${own}\n`, 0o600, ACCOUNT.uid);
    const env = { MIGRATE_DATABASE_URL: "postgres://o:canary-word@127.0.0.1:1/app", OPSCTL_ENV_DIR: folder };
    const migrated = await run(["migrate", "--status", "--json"], { env });
    const examined = await run(["doctor", "--json"], { env });
    const facts = readFileSync(out, "utf8");
    expect(facts).not.toContain("canary-word");
    expect(new Set(facts.match(/^Cap(?:Prm|Eff|Amb):.*$/gm)).size).toBe(3);
    expect(migrated.stderr).toContain(
      `variable=MIGRATE_DATABASE_URL from=${folder}/weekly.env used=environment`,
    );
    const said = (examined.json.findings as Finding[]).filter(({ command }) => command === "migrate");
    expect(said.map(({ code }) => code)).toContain("SECRET_UNUSED");
  });

  test("is root's file before a variable of the terminal, and the log says which was not used", async () => {
    host.make("etc/opsctl/root-secrets", 0o700);
    const file = "etc/opsctl/root-secrets/MIGRATE_DATABASE_URL";
    host.put(file, "postgres://owner:canary-file@127.0.0.1:1/app");
    const { stderr } = await run(["migrate", "--status", "--json"], {
      env: { MIGRATE_DATABASE_URL: "postgres://other:canary-typed@127.0.0.1:1/app" },
      before: 'cp /etc/passwd /etc/group /etc/nsswitch.conf "$0/etc"; mount --bind "$0/etc" /etc',
    });
    expect(stderr).toContain(`variable=MIGRATE_DATABASE_URL from=environment used="secret file /${file}"`);
    expect(stderr).not.toContain("canary");
  });
});

describe("a list of secrets", () => {
  test("shows nothing of root's, whatever directory the account names", async () => {
    const listed = ["/root", "/etc/opsctl/root-secrets", "/etc/opsctl/root-two"].map(
      async (directory, at) => {
        const etc = host.make(`hostile-${at}`);
        host.make(`hostile-${at}/opsctl`);
        host.put(`hostile-${at}/opsctl/weekly.env`, `OPSCTL_SECRETS_DIR=${directory}\n`, 0o600, ACCOUNT.uid);
        for (const name of ["root-secrets", "root-two"]) {
          const folder = host.make(`hostile-${at}/opsctl/${name}`);
          writeFileSync(`${folder}/DATABASE_URL`, "canary", { mode: 0o644 });
          chownSync(folder, 0, ACCOUNT.gid);
          chmodSync(folder, 0o750);
        }
        const lists = "/etc/passwd /etc/group /etc/nsswitch.conf";
        const before = `cp ${lists} ${etc}; mount --bind ${etc} /etc; mount -t tmpfs -o mode=700 none /root`;
        const { stdout } = await run(["secret", "list", "--json"], { before });
        const { secrets, problems }: SecretList = JSON.parse(stdout);
        return [...secrets.flatMap((secret) => secret.problems), ...problems];
      },
    );
    for (const problems of await Promise.all(listed)) {
      expect(problems.length).toBeGreaterThan(0);
      expect(problems.filter(({ fix }) => /chown|chmod|rm |mv /.test(fix.command ?? ""))).toEqual([]);
    }
  });
});

describe("what a hostile account has prepared", () => {
  const REFUSED = ["STATE_UNAVAILABLE", "FILE_UNTRUSTED", "ENV_FILE_INVALID", "SECRET_FILE_UNREADABLE"];

  test("leads root's commands to no file of root's, whatever they read or write", async () => {
    const victim = host.put("hostile-victim", "root's own\n");
    const folder = host.make("hostile", 0o755, ACCOUNT.uid);
    const logs = host.make("hostile-logs", 0o700, ACCOUNT.uid);
    for (const name of ["weekly.env", "webhook.env", "alert-rules.env", "socket-monitor.env"])
      symlinkSync(victim, `${folder}/${name}`);
    for (const name of [
      "weekly_performance_reports.last.json",
      "weekly_performance_reports.success",
      "socket_monitor.log",
      "alert-rules.last.json",
      ...["state.lock", "dispatcher.lock", "state.db"],
    ])
      symlinkSync(victim, `${logs}/${name}`);
    const env = { OPSCTL_ENV_DIR: folder, OPSCTL_LOG_DIR: logs, OPSCTL_STATE_DIR: logs };
    const lines = [
      ["weekly", "--dry-run"],
      ["webhook", "dead", "list"],
      ["socket-monitor"],
      ["alert-rules", "plan"],
      ["reports", "status"],
      ["secret", "list"],
      ["status"],
      ["doctor"],
    ];
    for (const words of lines) {
      const { stdout, stderr } = await run([...words, "--json"], { env });
      expect(stdout + stderr, words.join(" ")).not.toContain("root's own");
    }
    expect(readFileSync(victim, "utf8")).toBe("root's own\n");
    expect(lstatSync(victim)).toMatchObject({ uid: 0, mode: 0o100600 });
  });

  test("holds up no command of root's with a pipe that nobody writes to", async () => {
    const folder = host.make("pipes", 0o755, ACCOUNT.uid);
    for (const name of ["webhook.env", "weekly.env", "state.db"])
      spawnSync("mkfifo", ["-m", "666", `${folder}/${name}`]);
    const state = { OPSCTL_STATE_DIR: folder, OPSCTL_ENV_DIR: "" };
    const ended = await run(["webhook", "dead", "list", "--json"], { env: state });
    expect([ended.exitCode, REFUSED.includes(errorOf(ended).code)]).toEqual([3, true]);
    const settings = await run(["weekly", "--dry-run", "--json"], { env: { OPSCTL_ENV_DIR: folder } });
    expect([settings.exitCode, REFUSED.includes(errorOf(settings).code)]).toEqual([3, true]);
  });
});

describe("an account that root cannot or does not become", () => {
  const NO_SETUID = 'set -- setpriv --bounding-set=-setuid "$@"';

  test("lets no command do anything, and each says how to go on", async () => {
    const { env, facts } = witness(host, "cannot");
    const migrate = await run(["migrate", "--status", "--json"], { env, before: NO_SETUID });
    expect(migrate.exitCode).toBe(3);
    expect(errorOf(migrate)).toMatchObject({ code: "ACCOUNT_UNAVAILABLE", hint: expect.any(String) });
    expect(facts).toThrow("ENOENT");
    const list = await run(["secret", "list", "--json"], { before: NO_SETUID });
    expect([list.exitCode, errorOf(list).code]).toEqual([3, "ACCOUNT_UNAVAILABLE"]);
  });

  test.each([
    ["its number changes nothing", "passwd", "opsctl:x:4294967295:64001::/:/bin/sh\n"],
    ["its group is root's own", "passwd", "opsctl:x:64001:0::/:/bin/sh\n"],
  ] as const)("is one of which %s", async (what, list, lines) => {
    const before = withLines(list, what.replaceAll(/\W/g, "-"), lines);
    const ended = await run(["migrate", "--status", "--json"], { before });
    expect([ended.exitCode, errorOf(ended).code]).toEqual([3, "ACCOUNT_UNAVAILABLE"]);
  });

  test("does not keep root's own group, in which it is a member", async () => {
    const { env, facts } = witness(host, "groups");
    const before = withLines("group", "of-root", "wheel:x:0:opsctl\nbad:x:abc:opsctl\nmore:x:64003:opsctl\n");
    await run(["migrate", "--status"], { env, before });
    const groups = field(facts(), "Groups")!.trim().split(" ").map(Number);
    expect(groups.toSorted()).toEqual([ACCOUNT.gid, ACCOUNT.extraGid, 64_003]);
  });
});

describe("opsctl on a host with a directory service", () => {
  /** A host whose directory service says what the script prints; by default it hangs. */
  function withService(name: string, { isLocal = false, script = "exec sleep 3600" }): string {
    host.put(`${name}.conf`, "passwd: files sss\ngroup: files sss\n", 0o644);
    host.put(`${name}.getent`, `#!/bin/sh\n${script}\n`, 0o755);
    const others = readFileSync(host.path("passwd"), "utf8").replace(/^opsctl:.*\n/m, "");
    host.put(`${name}.others`, others, 0o644);
    const list = isLocal ? ":" : `mount --bind "$0/${name}.others" /etc/passwd`;
    return `mount --bind "$0/${name}.getent" /usr/bin/getent; mount --bind "$0/${name}.conf" /etc/nsswitch.conf; ${list}`;
  }

  test("an account of the host's own files is become without asking it, with its groups", async () => {
    const { env, facts } = witness(host, "local");
    await run(["migrate", "--status"], { env, before: withService("local", { isLocal: true }) });
    expect(field(facts(), "Uid")).toBe(four(ACCOUNT.uid));
    expect(facts()).toContain(`\n${ACCOUNT.gid} ${ACCOUNT.extraGid}\n`);
  });

  test("an account that it alone knows is become, with its groups", async () => {
    const { env, facts } = witness(host, "directory");
    const script = `echo "opsctl:*:${ACCOUNT.uid}:${ACCOUNT.gid}::/var/lib/opsctl:/usr/sbin/nologin"`;
    await run(["migrate", "--status"], { env, before: withService("directory", { script }) });
    expect([field(facts(), "Uid"), field(facts(), "Gid")]).toEqual([four(ACCOUNT.uid), four(ACCOUNT.gid)]);
    expect(facts()).toContain(`\n${ACCOUNT.gid}`);
    expect(facts()).not.toMatch(/^Groups:.*\b0\b/m);
  });

  test.each([[["status"]], [["secret", "list"]], [["migrate", "--status"]]])(
    "%j ends and says so where it hangs",
    async (words) => {
      const ended = await run([...words, "--json"], { before: withService(words.join("-"), {}) });
      expect([ended.exitCode, errorOf(ended).code]).toEqual([3, "ACCOUNT_UNAVAILABLE"]);
      expect(errorOf(ended).message).toContain("did not end within");
    },
  );

  test("doctor says so of each of the account's commands, and looks at what is root's", async () => {
    const { exitCode, json } = await run(["doctor", "--json"], {
      before: withService("doctor", {}),
    });
    const findings = json.findings as Finding[];
    expect([exitCode, findings.filter(({ code }) => code === "ACCOUNT_UNAVAILABLE").length]).toEqual([3, 7]);
    expect(findings.some(({ command }) => command === "collect-metrics")).toBe(true);
  });
});

/** The processes below one that runs. */
function childrenOf({ pid }: Running): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  return text === "" ? [] : text.split(" ").map(Number);
}
