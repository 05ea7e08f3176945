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
  directories: [at("place")],
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
    "install -D -m 0600 -o opsctl /dev/stdin /etc/opsctl/secrets/KEY",
    `chmod 0600 ${at("mine")}`,
    `install -d -o opsctl -g opsctl -m 0700 ${at("missing")}`,
    `mv ${at("place/weekly.env")} ${at("place/weekly.env")}.old && install -d -m 0755 ${at("place/weekly.env")}`,
    "install -d -o opsctl -g opsctl -m 0700 <directory>, then name it in OPSCTL_STATE_DIR",
    "Start the gateway, or correct GATEWAY_URL",
    "Look up 131047 in Meta's list of error codes (WhatsApp Business Platform); the service goes on by itself within a minute",
    `df -h ${at("place")}: make room on its disk, the service opens it by itself then`,
    'grant select (id, status) on public.tenants to "a login";',
    "grant execute on function public.weekly_performance_begin(uuid, timestamp with time zone) to opsctl;",
    "chmod go-w /var/lib/opsctl # unless others need it, as /tmp: then name another directory",
    "chown -h opsctl:opsctl /etc/opsctl/weekly.env",
    "chmod o+x /etc/opsctl",
    "chmod o+x /etc/opsctl/secrets",
    "chmod go-w /etc/opsctl",
    "install -D -m 0600 -o opsctl /dev/stdin /etc/opsctl/other-secrets/KEY",
    "Remove it there, then: install -D -m 0600 -o opsctl /dev/stdin /etc/opsctl/secrets/KEY",
    "mv /etc/opsctl/secrets/KEY.txt /etc/opsctl/secrets/KEY",
    "See that the alert webhook runs and answers, then: opsctl doctor weekly",
  ])("leaves %s", (mend) => expect(reportedMend(mend, by)).toBe(mend));

  test.each([
    "chown -h opsctl:opsctl /etc/shadow",
    "chmod 0600 /etc/passwd",
    "chmod o+x /root",
    "chmod 0600 /dev/mem",
    "install -d -o opsctl -g opsctl -m 0700 /etc",
    "install -d -o opsctl -g opsctl -m 0755 /etc/not-there.d",
    "install -d -o opsctl -g opsctl -m 0755 /etc/opsctl/../not-there.d",
    `install -d -o opsctl -g opsctl -m 0755 ${at("to-etc/not-there.d")}`,
    `mv ${at("mine")} ${at("mine")}.old && chown opsctl /etc/shadow`,
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
    `mv ${ours} ${at("place/other")}`,
    "mv /etc/opsctl/secrets/KEY /var/lib/opsctl/KEY",
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
    "systemctl start evil.service",
  ])("shows as what the account says: %s", (mend) =>
    expect(reportedMend(mend, by)).toBe(`The account opsctl says: ${mend}`),
  );

  test.each([";touch$IFS/x", "$(id)", "`id`", ">/x", "&id", "'x", "\\x"])("shows no path with %s", (tail) =>
    expect(reportedMend(`install -d -m 0700 ${at("missing")}${tail}`, by)).toStartWith(
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

  test("has a link looked at first", () =>
    expect(reportedMend(`chmod 0600 ${at("place/link")}`, by)).toStartWith("Look at it first"));
});
