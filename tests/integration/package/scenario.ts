/** What the Debian package does on a booted Debian, step by step; each step returns what was seen. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { makePackage, packageSource } from "../../packaging/support/package-source.ts";
import { until } from "../../support/until.ts";
import { removeClone } from "../../systemd/support/clone.ts";
import { bootMachine, type Machine } from "../systemd/machine.ts";
import { runSteps } from "../systemd/steps.ts";
import { lintian } from "./lintian.ts";

const SERVICE = "opsctl-webhook.service";
const SOCKET = "opsctl-webhook.socket";
const UNITS = [SOCKET, SERVICE];
/** The release before, the one that is new, and the next one, in which a sample and a task differ. */
const VERSIONS = ["0.0.1", "0.0.2", "0.0.3"];
const SETTINGS = [
  "WEBHOOK_SECRET=canary-webhook-secret-0123456789",
  "MESSAGING_API_URL=http://127.0.0.1:9",
  "MESSAGING_API_KEY=canary-gateway-key",
  "MESSAGING_PHONE=5511912345678",
  "ISSUE_TRACKER_URL=http://127.0.0.1:9/graphql",
  "ISSUE_TRACKER_TOKEN=lin_api_canarytoken0123456789",
  "ISSUE_TRACKER_TEAM_ID=0f0e0d0c-0b0a-4908-8706-050403020100",
  "OPSCTL_ALLOW_PLAIN_HTTP=1\n",
].join("\n");

/** Puts the packages and a clone where the machine sees them. */
function bring(machine: Machine, binary: string): void {
  const source = packageSource(binary);
  try {
    const clone = join(machine.path, "opt/clone");
    mkdirSync(clone, { recursive: true });
    spawnSync("cp", ["-a", `${source.clone}/.`, clone]);
    spawnSync("cp", [binary, join(clone, "dist/opsctl")]);
    for (const version of VERSIONS) {
      if (version === VERSIONS[2]) change(source.clone);
      const target = join(machine.path, `root/opsctl_${version}.deb`);
      const { status, stderr } = makePackage(source, "deb", { version, target });
      assert.deepEqual([stderr, status], ["", 0]);
    }
  } finally {
    removeClone(source);
  }
}

function change(clone: string): void {
  for (const name of ["opsctl.cron", "opsctl.logrotate", "weekly.env.example"])
    writeFileSync(join(clone, "systemd", name), "# of the next release\n", { flag: "a" });
}

/** Installs a package as an unattended update does: a file that was edited stays. */
function dpkg(machine: Machine, version: string): Promise<string> {
  const force = ["--force-confdef", "--force-confold"];
  return machine.must(["dpkg", ...force, "--install", `/root/opsctl_${version}.deb`]);
}

const read = (machine: Machine, path: string) => machine.must(["cat", path]);
const isActive = async (machine: Machine) =>
  (await machine.run(["systemctl", "is-active", ...UNITS])).output.replace("\n", " ");
const show = (machine: Machine, unit: string, name: string) =>
  machine.must(["systemctl", "show", unit, "--value", `--property=${name}`]);

async function assertNothingFailed(machine: Machine): Promise<void> {
  assert.equal(await machine.must(["systemctl", "--failed", "--plain", "--no-legend"]), "");
}

async function pleasesLintian(machine: Machine): Promise<string> {
  const found = lintian(join(machine.path, `root/opsctl_${VERSIONS[0]}.deb`));
  if (found === null) return "NOT TRIED: lintian cannot be had here";
  assert.deepEqual(found.errors, []);
  return ["lintian: no error", ...found.warnings].join("\n");
}

async function installs(machine: Machine): Promise<string> {
  const said = await dpkg(machine, VERSIONS[0]!);
  assert.match(said, /opsctl is installed; what comes next is in (\S+)/);
  await machine.must(["test", "-f", /in (\S+install\.md)/.exec(said)![1]!]);
  assert.equal(await isActive(machine), "inactive inactive");
  const owners = await machine.must([
    "sh",
    "-c",
    "stat -c '%a %U:%G %n' /etc/opsctl /etc/opsctl/*.env /etc/opsctl/*secrets /var/log/opsctl /var/lib/opsctl",
  ]);
  assert.deepEqual(owners.split("\n"), [
    "755 root:root /etc/opsctl",
    "600 opsctl:opsctl /etc/opsctl/alert-rules.env",
    "600 root:root /etc/opsctl/collect-metrics.env",
    "600 opsctl:opsctl /etc/opsctl/socket-monitor.env",
    "600 opsctl:opsctl /etc/opsctl/webhook.env",
    "600 opsctl:opsctl /etc/opsctl/weekly.env",
    "700 root:root /etc/opsctl/root-secrets",
    "750 root:opsctl /etc/opsctl/secrets",
    "750 opsctl:opsctl /var/log/opsctl",
    "700 opsctl:opsctl /var/lib/opsctl",
  ]);
  const verified = await machine.run(["systemd-analyze", "verify", "--man=no", ...UNITS]);
  assert.deepEqual([verified.status, verified.output], [0, ""]);
  await assertNothingFailed(machine);
  return `${await machine.must(["opsctl", "--version"])}; nothing was started, systemd-analyze verify says nothing`;
}

async function runsWhenEnabled(machine: Machine): Promise<string> {
  writeFileSync(join(machine.path, "etc/opsctl/webhook.env"), SETTINGS);
  await machine.must(["systemctl", "enable", "--now", ...UNITS]);
  assert.equal(await isActive(machine), "active active");
  return show(machine, SERVICE, "ExecStart");
}

/** What an operator edits, and what is written beside it. */
const KEPT = {
  "/etc/opsctl/weekly.env": "APP_BASE_URL=https://app.example.org\n",
  "/etc/opsctl/secrets/DATABASE_URL": "postgres://canary\n",
  "/etc/opsctl/root-secrets/HOSTING_TOKEN": "canary-token\n",
  "/etc/logrotate.d/opsctl": "# edited\n",
  "/var/log/opsctl/weekly.log": "{}\n",
};

async function assertKept(machine: Machine): Promise<void> {
  for (const [path, text] of Object.entries(KEPT)) assert.equal(await read(machine, path), text.trim(), path);
  assert.equal(`${await read(machine, "/etc/opsctl/webhook.env")}\n`, SETTINGS);
}

async function keepsWhatWasEdited(machine: Machine): Promise<string> {
  for (const [path, text] of Object.entries(KEPT)) writeFileSync(join(machine.path, path), text);
  const before = [
    await show(machine, SERVICE, "MainPID"),
    await show(machine, SOCKET, "ActiveEnterTimestampMonotonic"),
  ];
  await dpkg(machine, VERSIONS[1]!);
  await dpkg(machine, VERSIONS[2]!);
  await assertKept(machine);
  assert.match(await read(machine, "/etc/cron.d/opsctl"), /# of the next release$/);
  assert.match(await read(machine, "/etc/opsctl/weekly.env.example"), /# of the next release$/);
  assert.match(await read(machine, "/etc/logrotate.d/opsctl.dpkg-dist"), /# of the next release$/);
  assert.equal(await isActive(machine), "active active");
  const after = [
    await show(machine, SERVICE, "MainPID"),
    await show(machine, SOCKET, "ActiveEnterTimestampMonotonic"),
  ];
  assert.notEqual(after[0], before[0]);
  assert.equal(after[1], before[1]);
  return "two upgrades: the service was restarted, its socket stayed, edited files and secrets are as they were";
}

/** A package that takes the place of opsctl, and whose installation fails when opsctl has been stopped for it. */
const RIVAL = `set -e
mkdir -p /root/rival/DEBIAN
printf '%s\\n' 'Package: rival' 'Version: 1' 'Architecture: all' 'Maintainer: nobody <nobody@example.org>' \\
  'Conflicts: opsctl' 'Replaces: opsctl' 'Description: takes the place of opsctl' > /root/rival/DEBIAN/control
printf '#!/bin/sh\\nexit 1\\n' > /root/rival/DEBIAN/preinst
chmod 755 /root/rival/DEBIAN/preinst
dpkg-deb --build /root/rival /root/rival.deb`;

async function runsOnAfterABrokenOffRemoval(machine: Machine): Promise<string> {
  await machine.must(["sh", "-c", RIVAL]);
  const before = await show(machine, SERVICE, "MainPID");
  const { status, output } = await machine.run(["dpkg", "--install", "/root/rival.deb"]);
  assert.notEqual(status, 0);
  assert.match(output, /removing opsctl in favour of rival/);
  assert.equal(await isActive(machine), "active active");
  assert.notEqual(await show(machine, SERVICE, "MainPID"), before);
  assert.match(await machine.must(["dpkg", "--status", "opsctl"]), /Status: install ok installed/);
  await machine.must(["systemctl", "disable", "--now", ...UNITS]);
  await machine.run(["dpkg", "--install", "/root/rival.deb"]);
  assert.equal(await isActive(machine), "inactive inactive");
  await machine.must(["systemctl", "enable", "--now", ...UNITS]);
  return "a removal that is broken off: the service that was stopped for it runs again, one that did not run does not";
}

async function leavesAStoppedServiceAlone(machine: Machine): Promise<string> {
  await machine.must(["systemctl", "disable", "--now", ...UNITS]);
  await dpkg(machine, VERSIONS[2]!);
  assert.equal(await isActive(machine), "inactive inactive");
  await machine.must(["systemctl", "enable", "--now", ...UNITS]);
  return "what is neither enabled nor running is not started by an upgrade";
}

async function goesAndComesBack(machine: Machine): Promise<string> {
  await machine.must(["dpkg", "--remove", "opsctl"]);
  assert.equal(await isActive(machine), "inactive inactive");
  assert.equal(existsSync(join(machine.path, "usr/bin/opsctl")), false);
  await assertKept(machine);
  await assertNothingFailed(machine);
  const line = (await read(machine, "/etc/cron.d/opsctl"))
    .split("\n")
    .find((text) => /^\* .* root /.test(text))!;
  assert.equal(await machine.must(["sh", "-c", line.split(" root ")[1]!]), "");
  await dpkg(machine, VERSIONS[2]!);
  await assertKept(machine);
  assert.equal(await isActive(machine), "active active");
  return "removed: settings, secrets, logs stay and cron is silent; installed again: it runs again";
}

async function isPurged(machine: Machine): Promise<string> {
  const said = await machine.must(["dpkg", "--purge", "opsctl"]);
  assert.match(said, /\/var\/lib\/opsctl was kept: it may hold alerts that were not sent/);
  const left = await machine.must([
    "sh",
    "-c",
    "find / -xdev \\( -path /proc -o -path /root -o -path /opt -o -path /usr/share/bash-completion \\) -prune -o -name '*opsctl*' -print | sort",
  ]);
  assert.deepEqual(
    left.split("\n").filter((path) => !path.startsWith("/var/lib/systemd")),
    ["/var/lib/opsctl"],
  );
  await assertNothingFailed(machine);
  return "purged: only /var/lib/opsctl is left, and the account";
}

async function followsMakeInstall(machine: Machine): Promise<string> {
  await machine.must(["rm", "-r", "/var/lib/opsctl"]);
  const variables = ["DESTDIR=", "PREFIX=/usr/local", "SYSCONFDIR=/etc"];
  const script = ["env", "--chdir=/opt/clone", ...variables, "sh", "systemd/install.sh"];
  await machine.must([...script, "install"]);
  writeFileSync(join(machine.path, "etc/opsctl/webhook.env"), SETTINGS);
  await machine.must(["systemctl", "daemon-reload"]);
  await machine.must(["systemctl", "enable", "--now", ...UNITS]);
  const refused = await machine.run(["dpkg", "--install", `/root/opsctl_${VERSIONS[1]}.deb`]);
  assert.match(refused.output, /this host has opsctl by make install: make uninstall first/);
  assert.equal(await isActive(machine), "active active");
  await machine.must([...script, "uninstall"]);
  await dpkg(machine, VERSIONS[1]!);
  await machine.must(["systemctl", "enable", "--now", ...UNITS]);
  await until("the service runs", async () => (await isActive(machine)) === "active active");
  const pid = await show(machine, SERVICE, "MainPID");
  assert.equal(await machine.must(["readlink", `/proc/${pid}/exe`]), "/usr/bin/opsctl");
  assert.equal(`${await read(machine, "/etc/opsctl/webhook.env")}\n`, SETTINGS);
  assert.doesNotMatch(await read(machine, "/etc/cron.d/opsctl"), /\/usr\/local\/bin\/opsctl/);
  return "a host of make install: the package refuses it, and follows make uninstall with its settings";
}

async function refusesMakeInstall(machine: Machine): Promise<string> {
  for (const word of ["install", "uninstall"]) {
    const script = ["env", "--chdir=/opt/clone", "sh", "systemd/install.sh"];
    const { status, output } = await machine.run([...script, word]);
    assert.deepEqual([status, /Debian package/.test(output)], [1, true], output);
  }
  return "make install and make uninstall leave a host with the package alone";
}

const STEPS = [
  pleasesLintian,
  installs,
  runsWhenEnabled,
  keepsWhatWasEdited,
  runsOnAfterABrokenOffRemoval,
  leavesAStoppedServiceAlone,
  goesAndComesBack,
  isPurged,
  followsMakeInstall,
  refusesMakeInstall,
];

const [root, binary] = process.argv.slice(2) as [string, string];
spawnSync("ip", ["link", "set", "lo", "up"]);
const booting = bootMachine(root, process.pid).then((machine) => {
  bring(machine, binary);
  return machine;
});
await runSteps(booting, STEPS, (machine) => machine);
