import { afterAll, describe, expect, test } from "bun:test";
import { chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { reportedMend } from "../../../lib/doctor/advice/reported-mend.ts";
import { ODD_PATH, safeMend } from "../../../lib/doctor/advice/safe-mend.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "opsctl-reported-mend-")));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string) => join(folder, name);
const isRoot = process.geteuid?.() === 0;
const by = {
  name: "opsctl",
  uid: 64001,
  gid: 64001,
  directories: [at("place"), "/var/lib/opsctl"],
  settings: ["/etc/opsctl"],
  envDir: "/etc/opsctl",
  chosen: [] as string[],
  secrets: [] as string[],
  secretsDir: null,
  ownAdvice: ["sudo opsctl doctor weekly"],
};
const ours = at("place/weekly.env");
const NOT_WRITTEN =
  "Look at what the finding names: the account opsctl reports a command that opsctl does not write";

mkdirSync(at("place"));
writeFileSync(at("place/weekly.env"), "");
mkdirSync(at("own"));
writeFileSync(at("own/root.db"), "");
for (const name of ["mine", "own/mine"]) writeFileSync(at(name), "");
if (isRoot) for (const name of ["mine", "own", "own/mine"]) chownSync(at(name), by.uid, by.gid);
symlinkSync("/etc/shadow", at("place/link"));
symlinkSync("/etc", at("to-etc"));

describe("reportedMend()", () => {
  test.each([
    `Look at it, then: chown -h opsctl:opsctl ${at("place/weekly.env")}`,
    `Look at it, then: chown -h opsctl ${at("place/weekly.env")}`,
    "install -D -m 0600 /dev/stdin /etc/opsctl/secrets/TRIGGER_SECRET",
    "install -D -m 0600 -o opsctl /dev/null /etc/opsctl/weekly.env # then fill it in",
    "install -D -m 0600 -o opsctl -g opsctl /dev/null /etc/opsctl/webhook.env # then fill it in",
    "install -D -m 0600 -o opsctl /dev/stdin /etc/opsctl/secrets/TRIGGER_SECRET",
    ...(isRoot ? [`chmod 0600 ${at("mine")}`] : []),
    `install -d -o opsctl -g opsctl -m 0700 ${at("place/missing")}`,
    `mv -nT ${at("place/weekly.env")} ${at("place/weekly.env")}.old && install -d -o opsctl -g opsctl -m 0755 ${at("place/weekly.env")}`,
    "install -d -o opsctl -g opsctl -m 0700 <directory> # then name it in OPSCTL_STATE_DIR",
    "Start the gateway, or correct GATEWAY_URL",
    "Look up 131047 in Meta's list of error codes (WhatsApp Business Platform); the service goes on by itself within a minute",
    `df -h ${at("place")}: make room on its disk, the service opens it by itself then`,
    "grant select (id, phone) on public.users to service_role;",
    "grant select on public.tenant_config to service_role;",
    "grant execute on function public.fail_weekly_performance_report(uuid, uuid, text) to service_role;",
    "create role service_role nologin bypassrls;",
    "alter role service_role bypassrls;",
    "Set it by that command, as root, or as a file of its name in /etc/opsctl/secrets with mode 0600",
    "Give the account that runs the socket monitor a regular file with mode 0600 or 0400, or remove it",
    "Look at it, then move it away: mv -nT /var/lib/opsctl/state.db /var/lib/opsctl/state.db.foreign",
    "sudo opsctl doctor weekly",
    "Remove it there, then: opsctl secret set SOCIAL_EDITORIALS_CRON_SECRET",
    "Move MESSAGING_API_URL to webhook.env or socket-monitor.env: edit /etc/opsctl/weekly.env",
    "Rename GATEWY_URL, or take it out: edit /etc/opsctl/weekly.env",
    "Take HOSTING_TOKEN out: edit /etc/opsctl/weekly.env",
    "Set GATEWAY_URL in /etc/opsctl/weekly.env instead",
    "Set WEBHOOK_SECRET in /etc/opsctl/webhook.env to the one that sends",
    "Take OPSCTL_NO_SUCH out: edit /etc/opsctl/weekly.env",
    "chmod go-w /var/lib/opsctl # unless others need it, as /tmp: then name another directory",
    "Look at it, then: chown -h opsctl:opsctl /etc/opsctl/weekly.env",
    "chmod o+x /etc/opsctl",
    "chmod o+x /etc/opsctl/secrets",
    "chmod go-w /etc/opsctl # unless others need it, as /tmp: then name another directory",
    "install -D -m 0600 -o opsctl /dev/stdin /etc/opsctl/other-secrets/DATABASE_URL",
    "Remove it there, then: install -D -m 0600 -o opsctl /dev/stdin /etc/opsctl/secrets/TRIGGER_SECRET",
    "mv -nT /etc/opsctl/secrets/TRIGGER_SECRET.txt /etc/opsctl/secrets/TRIGGER_SECRET",
  ])("leaves %s", (mend) => expect(reportedMend(mend, by)).toBe(mend));

  test.each([
    "Look at it, then: chown -h opsctl:opsctl /etc/shadow",
    "Look at it, then: chown -h opsctl:opsctl /etc/opsctl/root-secrets.bak",
    "Look at it, then: chown -h opsctl:opsctl /etc/opsctl/root-secrets.old/HOSTING_TOKEN",
    "Look at it, then: chown -h opsctl:opsctl /etc/opsctl/root-secrets.old/TRIGGER_SECRET",
    "Look at it, then: chown -h opsctl:opsctl /etc/opsctl/secrets/HOSTING_TOKEN",
    "Look at it, then: chown -h opsctl:opsctl /etc/opsctl/anything",
    "Look at it, then: chown -h opsctl:opsctl /etc/opsctl/secrets/anything",
    "install -d -o opsctl -g opsctl -m 0755 /home/x/.ssh",
    "install -d -o opsctl -g opsctl -m 0755 /home/x/opsctl",
    "install -d -o opsctl -g opsctl -m 0755 /srv/salt",
    "install -d -o opsctl -g opsctl -m 0755 /srv/opsctl-backups",
    "install -d -o opsctl -g opsctl -m 0755 /usr/local/opsctl",
    "install -d -o opsctl -g opsctl -m 0755 /var/spool/opsctl",
    "install -d -o opsctl -g opsctl -m 0755 /run/opsctl",
    "Look at it, then: chown -h opsctl:opsctl /srv",
    "chmod o+x /srv",
    "install -D -m 0600 -o opsctl /dev/stdin /srv/secrets/TRIGGER_SECRET",
    "Look at it, then move it away: mv -nT /etc/passwd /etc/passwd.foreign",
    "install -d -o opsctl -g opsctl -m 0755 /var/lib/systemd/x",
    `install -D -m 0600 -o opsctl /dev/null ${at("missing")} # then fill it in`,
    "chmod 0600 /etc/passwd",
    "chmod o+x /root",
    "chmod 0600 /dev/mem",
    "install -d -o opsctl -g opsctl -m 0700 /etc",
    "install -d -o opsctl -g opsctl -m 0755 /etc/not-there.d",
    `install -d -o opsctl -g opsctl -m 0755 ${at("to-etc/not-there.d")}`,
    `rmdir /etc`,
    "install -d -o opsctl -g opsctl -m 0755 /etc/opsctl",
    "install -d -o opsctl -g opsctl -m 0755 /etc/opsctl/secrets",
    "Look at it, then: chown -h opsctl:opsctl /etc/opsctl/collect-metrics.env",
    "chmod o+x /etc/opsctl/root-secrets",
    "install -D -m 0600 -o opsctl /dev/stdin /etc/opsctl/root-secrets/KEY",
    "Remove it there, then: install -D -m 0600 -o opsctl /dev/stdin /etc/cron.d/KEY",
  ])("keeps %s from root's hands", (mend) => {
    const shown = reportedMend(mend, by);
    expect(shown).toStartWith("Correct the setting: /");
    expect(shown).not.toMatch(/\b(?:chown|chmod|install|mv|rmdir|runuser) /);
  });

  test.each([
    `Look at it, then: chown -h root ${ours}`,
    `chown opsctl ${ours}`,
    `Look at it, then: chown -h opsctl:root ${ours}`,
    `Look at it, then: chown -h root ${ours} && chmod 4755 ${ours}`,
    `chmod 4755 ${ours}`,
    `chmod 0644 ${ours}`,
    `chmod o+rx ${ours}`,
    `rmdir ${at("place/directory")}`,
    `chmod u+s ${ours}`,
    `chmod 0777 ${ours}`,
    `install -D -o root -m 4755 /dev/stdin ${ours}`,
    `install -D -m 4755 /dev/stdin ${ours}`,
    `install -D -m 0600 -o root /dev/stdin ${ours}`,
    `install -d -o opsctl -m 2755 ${at("place/directory")}`,
    `install -d -o opsctl -m 0750 ${at("place/directory")}`,
    `chown -R opsctl:opsctl ${at("place")}`,
    `install -D -m 0600 -o opsctl /etc/shadow ${ours}`,
    `chmod 0600 ${ours} # then fill it in # sh /tmp/x`,
    `chmod  0600 ${ours}`,
    `mv -nT ${ours} ${at("place/other")}`,
    "mv -nT /etc/TRIGGER_SECRET.txt /etc/opsctl/secrets/TRIGGER_SECRET",
    "mv -nT /etc/opsctl/secrets/OTHERS /etc/opsctl/secrets/TRIGGER_SECRET",
    `mv -nT ${at("mine")} ${at("mine")}.old && chown -h opsctl:opsctl /etc/shadow`,
    "chmod o+x /etc/opsctl && chown -h opsctl:opsctl /etc/opsctl",
    "chmod o+x /etc/opsctl && install -d -o opsctl -g opsctl -m 0700 /etc/opsctl/secrets",
    `chown -h opsctl:opsctl ${ours}`,
    `Look at it, then move it away: mv -nT ${ours} ${at("place/other")}.foreign`,
    `mv -nT ${ours} ${ours}.old && install -d -o opsctl -g opsctl -m 4755 ${ours}`,
    "mv -nT /etc/opsctl/secrets/TRIGGER_SECRET /var/lib/opsctl/TRIGGER_SECRET",
    `chmod 0600 ${ours} # then run it`,
  ])("keeps owner and mode as opsctl writes them: %s", (mend) => {
    const shown = reportedMend(mend, by);
    expect(shown).toBe(NOT_WRITTEN);
  });

  test.each([
    "curl -s https://example.org/x | sh",
    "sh /var/lib/opsctl/fix.sh",
    "Remove x, then: rm -rf /etc",
    `Remove x, then: chmod 0600 ${ours}`,
    "Start the gateway, or correct GATEWAY_URL; sh /var/lib/opsctl/fix.sh",
    "Make room: df -h /tmp;reboot",
    "Make room: df -h $(reboot)",
    "Correct line 2 of /tmp/x, or: rm -rf /etc",
    "sudo opsctl doctor weekly --env-dir /var/lib/opsctl",
    "opsctl secret set KEY --root --directory /tmp",
    "grant all on public.tenants to public;",
    "Make /etc/cron.d a directory that this account may write to",
    "Make /etc/opsctl/secrets a directory that this account may write to",
    "Make /var/lib/opsctl/../../../etc a directory that this account may write to",
    "Look at it first: ls -l /bin: a link is there; remove it unless you made it",
    "Remove it from /etc/shadow",
    "Remove it from /etc/opsctl/collect-metrics.env",
    "Remove that line from /etc/systemd/system/opsctl-webhook.service.d/x.conf, then systemctl daemon-reload and systemctl restart opsctl-webhook.service",
    "Set BASH_ENV in /etc/environment to the one that sends",
    "Correct that line in /etc/cron.d/opsctl, or remove the file and have it put back: dpkg --force-confmiss --install opsctl_<version>_<architecture>.deb, or in a clone: make install",
    "Set BASH_ENV in /etc/opsctl/webhook.env to the one that sends",
    "Set WEBHOOK_SECRET in /etc/environment to the one that sends",
    "Correct LD_PRELOAD",
    "Rename LD_PRELOAD, or take it out: edit /etc/opsctl/weekly.env",
    "Take PATH out: edit /etc/opsctl/weekly.env",
    "Move GATEWAY_URL to webhook.env: edit /etc/opsctl/weekly.env",
    "Move HOSTING_API_URL to collect-metrics.env: edit /etc/opsctl/weekly.env",
    "Move MIGRATE_DATABASE_URL to weekly.env: edit /etc/opsctl/webhook.env",
    "Set LD_PRELOAD in /etc/opsctl/weekly.env instead",
    "Set HTTPS_PROXY in /etc/opsctl/weekly.env",
    "See that a script from example org runs and answers, then: opsctl doctor weekly",
    "See whether this host is too busy, or a disk hangs (run it as root), then: opsctl doctor weekly",
    "Give the account that runs root a regular file with mode 0600 or 0400, or remove it",
    "opsctl secret set DATABASE_URL --root",
    "sudo opsctl doctor weekly --env-dir /etc/opsctl/other",
    "opsctl secret set OPSCTL_ENV_DIR",
    "Move PATH to evil.env: edit /etc/opsctl/weekly.env",
    "grant service_role to anon;",
    "alter role anon bypassrls;",
    "alter role authenticated bypassrls;",
    "grant select on public.users to public;",
    "grant select on public.users to anon;",
    "grant select (id, password) on public.users to service_role;",
    "grant update on public.users to service_role;",
    "grant select on public.oauth_tokens to service_role;",
    "grant execute on function public.pg_read_file(text) to service_role;",
    "grant create on schema public to service_role;",
    "create role anon nologin bypassrls;",
    "grant service_role to \"x'; touch /tmp/pwned; '\";",
    "systemctl start evil.service",
  ])("shows as what the account says: %s", (mend) =>
    expect(reportedMend(mend, by)).toBe(`The account opsctl says: ${mend}`),
  );

  test.each([
    ...[
      ";touch$IFS/x",
      "$(id)",
      "`id`",
      ">/x",
      "&id",
      "'x",
      "\\x",
      "\t/x",
      "*",
      "~",
      "{a,b}",
      "\u00e9",
      "!x",
      "^x",
    ],
    ...["#/../..", "#x", "<etc>/etc/canary", "<directory>", "<directory>, then name it in OPSCTL_STATE_DIR"],
    ...["/..", "/../../etc", "/./x", "//x", "/", " x", " /etc", " ../../etc", "  # then fill it in"],
  ])("shows no path with %j", (tail) => {
    for (const words of [
      "install -d -o opsctl -g opsctl -m 0700",
      "chmod 0600",
      "Look at it, then: chown -h opsctl:opsctl",
    ]) {
      const mend = `${words} ${at("place/missing")}${tail}`;
      expect([reportedMend(mend, by), safeMend(mend)]).toEqual([NOT_WRITTEN, ODD_PATH]);
    }
  });

  test.each([
    "install -d -o opsctl -m 0700 etc/cron.d",
    `chmod 0600 ${at("place/weekly.env")} -R .`,
    `rmdir ${at("place")} etc`,
    `mv -nT ${ours} etc`,
    "chmod 0600 -",
    "chmod 0600 ",
    "chmod 0600 /",
    "install -d -m 0700 /etc/opsctl/weekly.env#/../..",
    "install -d -o opsctl -g opsctl -m 0755 /etc/opsctl/../not-there.d",
    "install -D -m 0600 -o opsctl /dev/stdin /etc/opsctl/./root-secrets/KEY",
    "install -D -m 0600 -o opsctl /dev/stdin /etc/opsctl//root-secrets/KEY",
    "install -d -o opsctl -g opsctl -m 0755 /mnt/disk 1/x",
  ])("shows no path that is not a plain, absolute one: %s", (mend) =>
    expect([reportedMend(mend, by), safeMend(mend)]).toEqual([NOT_WRITTEN, ODD_PATH]),
  );

  test.each(["/dev/null", "/dev/stdin"])("judges %s unless it is what a file is made from", (path) => {
    for (const words of [
      "chmod 0600",
      "Look at it, then: chown -h opsctl:opsctl",
      "install -d -o opsctl -g opsctl -m 0700",
      "install -D -m 0600 -o opsctl /dev/stdin",
    ])
      expect(reportedMend(`${words} ${path}`, by)).toStartWith(
        `Correct the setting: ${path} is not for opsctl;`,
      );
  });

  test("gives nothing by a path that leads each process elsewhere", () => {
    const before = process.cwd();
    process.chdir(folder);
    try {
      for (const path of ["/proc/self/cwd/mine", "/proc/thread-self/cwd/mine"])
        expect(reportedMend(`Look at it, then: chown -h opsctl:opsctl ${path}`, by)).toStartWith(
          "Correct the setting: ",
        );
    } finally {
      process.chdir(before);
    }
  });

  test.each(["HOSTING_TOKEN", "MIGRATE_DATABASE_URL"])("puts no %s where the account reads it", (name) => {
    for (const directory of ["/var/lib/opsctl", "/srv/opsctl/secrets", at("own")])
      expect(reportedMend(`install -D -m 0600 -o opsctl /dev/stdin ${directory}/${name}`, by)).toBe(
        `Correct the setting: ${directory}/${name} is not for opsctl; ${name} is for root alone: opsctl secret set ${name}`,
      );
    for (const advice of [
      `Set ${name} in /etc/opsctl/weekly.env`,
      `Correct ${name} in /etc/opsctl/weekly.env`,
      `Set GATEWAY_URL and ${name} in /etc/opsctl/weekly.env, then opsctl secret set WEBHOOK_SECRET`,
      `Correct ${name} where OPSCTL_SECRETS_COMMAND gets it`,
    ])
      expect(reportedMend(advice, by)).toBe(`The account opsctl says: ${advice}`);
    expect(reportedMend(`opsctl secret set ${name}`, by)).toBe(`opsctl secret set ${name}`);
  });

  test.each(["/etc/default", "/etc", "/usr/lib"])(
    "leaves nothing below a directory of the system, %s",
    (directory) => {
      const misled = { ...by, settings: ["/etc/opsctl", directory] };
      for (const name of ["grub", "weekly.env", "secrets/TRIGGER_SECRET"])
        expect(reportedMend(`Look at it, then: chown -h opsctl:opsctl ${directory}/${name}`, misled)).toBe(
          `Correct the setting: ${directory}/${name} is not for opsctl; such a place is /var/lib/opsctl, /var/log/opsctl or one of that name on another disk, as /srv/opsctl`,
        );
      expect(reportedMend(`chmod o+x ${directory}`, misled)).toStartWith("Correct the setting: ");
    },
  );

  test("takes the known names alone in a directory of settings elsewhere", () => {
    const moved = { ...by, settings: ["/etc/opsctl-staging", at("settings")] };
    for (const directory of moved.settings) {
      const line = `Look at it, then: chown -h opsctl:opsctl ${directory}/weekly.env`;
      expect(reportedMend(line, moved)).toBe(line);
      expect(reportedMend(`${line}.old`, moved)).toStartWith("Correct the setting: ");
    }
  });

  const PLACES = [
    "install -d -o opsctl -g opsctl -m 0700 /srv/opsctl",
    "install -d -o opsctl -g opsctl -m 0755 /data/opsctl/log",
    "install -d -o opsctl -g opsctl -m 0700 /mnt/no-such-disk/opsctl",
    "install -D -m 0600 -o opsctl /dev/stdin /srv/opsctl/secrets/TRIGGER_SECRET",
  ];
  test.each(PLACES)("makes a place with the account's name: %s", (line) =>
    expect(reportedMend(line, by)).toBe(line),
  );

  const CHOSEN = { ...by, chosen: ["/srv/states", "/etc/states", "/usr/states"], secrets: ["/srv/secrets"] };
  test.each([
    "install -d -o opsctl -g opsctl -m 0700 /srv/states",
    "install -d -o opsctl -g opsctl -m 0755 /srv/states/log",
    "install -D -m 0600 -o opsctl /dev/stdin /srv/secrets/TRIGGER_SECRET",
    "Look at it, then: chown -h opsctl:opsctl /srv/secrets/TRIGGER_SECRET",
    "chmod o+x /srv/secrets",
    "mv -nT /srv/secrets/TRIGGER_SECRET.txt /srv/secrets/TRIGGER_SECRET",
    "Set it by that command, as root, or as a file of its name in /srv/secrets with mode 0600",
  ])("makes what root's own configuration names: %s", (line) => {
    expect(reportedMend(line, CHOSEN)).toBe(line);
    expect(reportedMend(line, by)).not.toBe(line);
  });

  test.each([
    "install -d -o opsctl -g opsctl -m 0700 /etc/states",
    "install -d -o opsctl -g opsctl -m 0700 /usr/states",
    "install -d -o opsctl -g opsctl -m 0700 /srv/statesmen",
    "install -d -o opsctl -g opsctl -m 0755 /srv",
  ])("makes nothing besides: %s", (line) =>
    expect(reportedMend(line, CHOSEN)).toStartWith("Correct the setting: /"),
  );

  test("gives nothing away that is there already, though it has the account's name or root chose it", () => {
    const log = { ...by, name: "log", chosen: ["/var/log"] };
    expect(reportedMend("install -d -o log -g log -m 0755 /var/log", log)).toStartWith("Correct");
    const system = { ...by, chosen: ["/lib99/states"] };
    expect(reportedMend("install -d -o opsctl -g opsctl -m 0700 /lib99/states", system)).toStartWith(
      "Correct",
    );
  });

  test("gives nothing away to which a link leads from a directory of the account", () => {
    mkdirSync(at("shared"));
    writeFileSync(at("shared/of-others"), "");
    symlinkSync(at("shared"), at("place/disk"));
    symlinkSync(at("shared"), at("disk"));
    const linked = { ...by, directories: [at("place"), at("disk")] };
    for (const path of ["place/disk/of-others", "disk/of-others"])
      for (const words of ["Look at it, then: chown -h opsctl:opsctl", "chmod 0600"])
        expect(reportedMend(`${words} ${at(path)}`, linked)).toStartWith("Correct the setting: ");
  });

  test.if(isRoot)("lets a directory of the account stand on another disk, behind a link", () => {
    mkdirSync(at("other-disk/opsctl"), { recursive: true });
    mkdirSync(at("lib"));
    symlinkSync(at("other-disk/opsctl"), at("lib/opsctl"));
    writeFileSync(at("lib/opsctl/state.db"), "");
    const moved = { ...by, directories: [at("lib/opsctl")] };
    for (const words of ["Look at it, then: chown -h opsctl:opsctl", "chmod 0600"]) {
      const line = `${words} ${at("lib/opsctl/state.db")}`;
      expect(reportedMend(line, moved)).toBe(line);
    }
  });

  test("gives no secret of root's own folder away", () => {
    for (const name of ["keys", "root-keys"]) {
      mkdirSync(at(name));
      writeFileSync(at(`${name}/DATABASE_URL`), "");
    }
    const named = { ...by, secrets: [at("keys"), at("root-keys")] };
    const line = (name: string) => `Look at it, then: chown -h opsctl:opsctl ${at(name)}/DATABASE_URL`;
    expect(reportedMend(line("keys"), named)).toBe(line("keys"));
    expect(reportedMend(line("root-keys"), named)).toStartWith("Correct the setting: ");
  });

  test("gives no place away that root chose and others use", () => {
    const shared = { ...by, chosen: ["/", "/var/log", "/var"] };
    for (const path of ["/var/log", "/var/log/no-such-program", "/var/no-such", "/no-such-program"])
      expect(reportedMend(`install -d -o opsctl -g opsctl -m 0755 ${path}`, shared)).toStartWith("Correct");
  });

  test.each([
    ["-m 0700 /srv/states", "OPSCTL_STATE_DIR=/srv/states"],
    ["-m 0755 /srv/logs", "OPSCTL_LOG_DIR=/srv/logs"],
  ])("tells how root vouches for a place, %s", (end, setting) => {
    const [, place] = setting.split("=");
    expect(reportedMend(`install -d -o opsctl -g opsctl ${end}`, by)).toEndWith(
      `. The file that names it (grep -n ${place} /etc/opsctl/*.env) is one that opsctl can change, so opsctl itself may have written that: only where a person set it for opsctl, this tells the command: sudo ${setting} opsctl doctor`,
    );
  });

  test("looks again with the directory of secrets that root named, and with one alone", () => {
    const named = { ...by, secretsDir: "/srv/root's own", envDir: "/etc/opsctl/staging" };
    const state = "install -d -o opsctl -g opsctl -m 0700 /srv/states";
    expect(reportedMend(state, named)).toEndWith(
      ": sudo OPSCTL_SECRETS_DIR='/srv/root'\\''s own' OPSCTL_STATE_DIR=/srv/states opsctl doctor --env-dir /etc/opsctl/staging",
    );
    const secret = "install -D -m 0600 -o opsctl /dev/stdin /srv/secrets/TRIGGER_SECRET";
    expect(reportedMend(secret, named)).toEndWith(
      ": sudo OPSCTL_SECRETS_DIR=/srv/secrets opsctl doctor --env-dir /etc/opsctl/staging",
    );
    if (!isRoot) return;
    mkdirSync(at("doubt"));
    chownSync(at("doubt"), by.uid + 1, by.gid + 1);
    const doubted = { ...named, directories: [at("doubt")] };
    expect(reportedMend(`install -d -o opsctl -g opsctl -m 0700 ${at("doubt/new")}`, doubted)).toEndWith(
      "and look again: sudo OPSCTL_SECRETS_DIR='/srv/root'\\''s own' opsctl doctor --env-dir /etc/opsctl/staging",
    );
  });

  test("tells how root vouches for a directory of secrets, with the directory of its environment files", () => {
    const line = "install -D -m 0600 -o opsctl /dev/stdin /srv/secrets/TRIGGER_SECRET";
    expect(reportedMend(line, { ...by, envDir: "/etc/opsctl/staging" })).toEndWith(
      ": sudo OPSCTL_SECRETS_DIR=/srv/secrets opsctl doctor --env-dir /etc/opsctl/staging",
    );
    const webhook = "install -D -m 0600 -o opsctl -g opsctl /dev/null /srv/x/webhook.env # then fill it in";
    expect(reportedMend(webhook, by)).toEndWith(
      ": sudo OPSCTL_WEBHOOK_ENV_FILE=/srv/x/webhook.env opsctl doctor",
    );
  });

  test("leaves what is there already to the operator's hands", () =>
    expect(reportedMend(`chmod o+x ${at("own")}`, { ...by, uid: 64002 })).toEndWith(
      `. Where that path is meant, look at it (ls -ld ${at("own")}) and put it right by hand`,
    ));

  test.each(
    [
      ["install -d -o opsctl -g opsctl -m 0700 DIR/own/new", "install -d -m 0700 DIR/own/new"],
      [
        "install -D -m 0600 -o opsctl -g opsctl /dev/null DIR/own/webhook.env # then fill it in",
        "install -D -m 0600 /dev/null DIR/own/webhook.env # then fill it in",
      ],
      ["install -D -m 0600 -o opsctl /dev/stdin DIR/own/KEY", "install -D -m 0600 /dev/stdin DIR/own/KEY"],
      ["chmod 0600 DIR/own/mine", "chmod 0600 DIR/own/mine"],
      [
        "Look at it, then: chown -h opsctl:opsctl DIR/own/root.db",
        "mv -nT DIR/own/root.db DIR/own/root.db.old",
      ],
      [
        "Look at it, then move it away: mv -nT DIR/own/root.db DIR/own/root.db.foreign",
        "mv -nT DIR/own/root.db DIR/own/root.db.foreign",
      ],
      [
        "install -d -o opsctl -g opsctl -m 0700 /tmp/no-such-opsctl",
        "install -d -m 0700 /tmp/no-such-opsctl",
      ],
    ].filter(() => isRoot),
  )("is run as the account where that one could put a link: %s", (line, command) => {
    const shown = reportedMend(line!.replaceAll("DIR", folder), by);
    expect(shown).toEndWith(`runuser --pty -u opsctl -- ${command!.replaceAll("DIR", folder)}`);
    expect(shown.match(/opsctl:opsctl|-o opsctl|-g opsctl/)).toBeNull();
  });

  test.if(isRoot)("is no line for a place in doubt that is not the account's", () => {
    mkdirSync(at("third"));
    chownSync(at("third"), by.uid + 1, by.gid + 1);
    const line = `install -d -o opsctl -g opsctl -m 0700 ${at("third/new")}`;
    expect(reportedMend(line, by)).toEndWith(
      `. Where that path is meant, look at it (ls -ld ${at("third")}) and put it right by hand`,
    );
    const placed = { ...by, directories: [at("third")] };
    expect(reportedMend(line, placed)).toStartWith(`Look first who but root may write to ${at("third")} (`);
  });

  test("runs each of two commands as the account", () =>
    expect(
      reportedMend(
        `mv -nT ${at("own/mine")} ${at("own/mine")}.old && install -d -o opsctl -g opsctl -m 0700 ${at("own/mine")}`,
        by,
      ),
    ).toBe(
      isRoot
        ? `runuser --pty -u opsctl -- mv -nT ${at("own/mine")} ${at("own/mine")}.old && runuser --pty -u opsctl -- install -d -m 0700 ${at("own/mine")}`
        : expect.any(String),
    ));

  test("knows what root would say itself", () => {
    const lines = [
      "sudo opsctl doctor weekly --env-dir /etc/opsctl/staging",
      "chmod 0600 /etc/opsctl/root-secrets/MIGRATE_DATABASE_URL",
      "See that the database runs and answers, then: opsctl doctor weekly",
    ];
    const own = { ...by, ownAdvice: lines };
    expect(lines.map((line) => reportedMend(line, own))).toEqual(lines);
    expect(lines.map((line) => reportedMend(line, by).split(" ").slice(0, 3).join(" "))).toEqual([
      ...["The account opsctl", "Correct the setting:", "The account opsctl"],
    ]);
  });

  test("takes each directory of settings for itself, also one in another", () => {
    const nested = { ...by, settings: ["/etc/opsctl", "/etc/opsctl/staging"] };
    for (const line of [
      "Look at it, then: chown -h opsctl:opsctl /etc/opsctl/staging/weekly.env",
      "Set it by that command, as root, or as a file of its name in /etc/opsctl/staging/secrets with mode 0600",
    ])
      expect([reportedMend(line, nested), reportedMend(line, by) === line]).toEqual([line, false]);
  });

  test("has a link looked at first", () =>
    expect(reportedMend(`chmod 0600 ${at("place/link")}`, by)).toStartWith("Look at it first"));
});
