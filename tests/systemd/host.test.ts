/**
 * An installation on a host as root, from no account to an empty place again: on the real paths, in a mount namespace
 * whose /etc, /var and /usr/local are copies, so that this machine keeps its own.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { has, requires } from "../support/requires.ts";
import { type Clone, makeClone, type Ran, removeClone, run } from "./support/clone.ts";

const onHost = requires("root", "mount");

let clone: Clone;
let host: Ran;
beforeAll(() => {
  clone = makeClone();
  if (!has("mount")) return;
  mkdirSync(join(clone.folder, "stub"));
  writeFileSync(join(clone.folder, "stub/systemctl"), '#!/bin/sh\necho "systemctl $*"\n', { mode: 0o755 });
  writeFileSync(join(clone.folder, "host.sh"), SCRIPT);
  const env = { PATH: `${clone.folder}/stub:/usr/sbin:/usr/bin:/sbin:/bin`, W: clone.folder, LC_ALL: "C" };
  host = run("unshare", ["-m", "sh", "-eu", join(clone.folder, "host.sh")], { cwd: clone.clone, env });
});
afterAll(() => removeClone(clone));

/** Each part of the script prints under a heading of its own. */
const SCRIPT = `
umask 077
mount -t tmpfs -o mode=755 none /run
mkdir -p /run/systemd/system
cp -a /etc "$W/etc"
for name in passwd group shadow gshadow; do [ ! -f "$W/etc/$name" ] || sed -i /^opsctl:/d "$W/etc/$name"; done
rm -rf "$W/etc/opsctl"
mkdir -m 755 "$W/log" "$W/lib" "$W/local"
mount --bind "$W/etc" /etc
mount --bind "$W/log" /var/log
mount --bind "$W/lib" /var/lib
mount --bind "$W/local" /usr/local
own() { find /etc/opsctl /var/log /var/lib /usr/local/bin /etc/cron.d/opsctl -mindepth 0 -printf '%m %u:%g %p\\n' | sort -k 3; }
as_service() { setpriv --reuid=opsctl --regid=opsctl --clear-groups "$@"; }

echo "## install"
make install
echo "## account"
getent passwd opsctl | cut -d: -f6-
getent group opsctl | cut -d: -f1
echo "## owners"
own
echo "## again"
find /etc/opsctl /etc/cron.d/opsctl /etc/passwd /usr/local /var/log /var/lib -printf '%p %T@ %C@\\n' > "$W/before"
make install > /dev/null
find /etc/opsctl /etc/cron.d/opsctl /etc/passwd /usr/local /var/log /var/lib -printf '%p %T@ %C@\\n' > "$W/after"
cmp "$W/before" "$W/after" && echo same
echo "## service user"
for name in weekly webhook alert-rules socket-monitor collect-metrics; do
  as_service cat "/etc/opsctl/$name.env" > /dev/null 2>&1 && echo "reads $name"
done || true
as_service mv /etc/opsctl/collect-metrics.env /etc/opsctl/x 2> /dev/null || echo "replaces nothing"
echo "## units"
for unit in service socket; do cmp "systemd/opsctl-webhook.$unit" "/etc/systemd/system/opsctl-webhook.$unit" || true; done
echo "## cron"
for name in weekly socket-monitor; do
  as_service sh -c "$(sed -n "s/^[^#].* opsctl \\(exec .*opsctl $name.*\\)/\\1/p" /etc/cron.d/opsctl)"
done
umask 022
sh -c "$(sed -n 's/^[^#].* root \\(env .*\\)/\\1/p' /etc/cron.d/opsctl)"
stat -c '%U %n' /var/log/opsctl/*
grep -h '^called' /var/log/opsctl/*
echo "## uninstall"
echo 'X=1' >> /etc/opsctl/weekly.env
install -o opsctl -g opsctl -m 0600 /dev/null /etc/opsctl/secrets/DATABASE_URL
touch /var/lib/opsctl/state.db
make uninstall
echo "## left"
find /etc/opsctl /var/log/opsctl /var/lib/opsctl /usr/local /etc/cron.d/opsctl /etc/logrotate.d/opsctl /etc/systemd/system/opsctl* -type f 2> /dev/null || true
id -un opsctl
make install > /dev/null
echo "## pipe"
rm -f /etc/opsctl/weekly.env
mkfifo /etc/opsctl/weekly.env
make uninstall > /dev/null &
uninstalling=$!
# Who opened the pipe waits for its writer; only then can one be opened without waiting.
while kill -0 "$uninstalling" 2> /dev/null; do
  perl -e 'use Fcntl; exit !sysopen(my $pipe, $ARGV[0], O_WRONLY | O_NONBLOCK)' /etc/opsctl/weekly.env 2> /dev/null && echo "waited for" && break
  sleep 0.05
done
wait "$uninstalling"
ls /etc/opsctl/weekly.env
rm /etc/opsctl/weekly.env
make install > /dev/null 2>&1
echo "## broken off"
mkdir "$W/tmp"
printf '#!/bin/sh\nkill -TERM 0\n' > "$W/stub/cmp"
chmod 755 "$W/stub/cmp"
export PREFIX=/usr/local SYSCONFDIR=/etc DESTDIR= TMPDIR="$W/tmp"
setsid --wait sh systemd/install.sh install > /dev/null 2>&1 || echo ended
ls "$W/tmp"
`;

/** What the script printed under a heading. */
function part(heading: string): string[] {
  const [, text = ""] = new RegExp(`^## ${heading}\\n((?:(?!## ).*\\n)*)`, "m").exec(host.stdout) ?? [];
  return text.split("\n").slice(0, -1);
}

const ENVIRONMENTS = ["alert-rules", "collect-metrics", "socket-monitor", "webhook", "weekly"];

onHost.describe("make install and uninstall on a host, as root", () => {
  test("run to their end and say nothing on standard error", () => {
    expect([host.stderr, host.status]).toEqual(["", 0]);
  });

  test.each<[string, string, string[]]>([
    [
      "account",
      "the service user has no shell, and its home where it may be",
      ["/var/lib/opsctl:/usr/sbin/nologin", "opsctl"],
    ],
    [
      "owners",
      "each file belongs to the one who reads it, and the settings directory to root",
      [
        "644 root:root /etc/cron.d/opsctl",
        "755 root:root /etc/opsctl",
        ...ENVIRONMENTS.flatMap((name) => [
          `600 ${name === "collect-metrics" ? "root:root" : "opsctl:opsctl"} /etc/opsctl/${name}.env`,
          `644 root:root /etc/opsctl/${name}.env.example`,
        ]),
        "700 root:root /etc/opsctl/root-secrets",
        "750 root:opsctl /etc/opsctl/secrets",
        "755 root:root /usr/local/bin",
        "755 root:root /usr/local/bin/opsctl",
        "755 root:root /var/lib",
        "700 opsctl:opsctl /var/lib/opsctl",
        "755 root:root /var/log",
        "750 opsctl:opsctl /var/log/opsctl",
      ],
    ],
    ["again", "nothing changes when it is done again", ["same"]],
    [
      "service user",
      "the service user reads its own files, and neither reads nor replaces root's",
      [
        ...["alert-rules", "socket-monitor", "webhook", "weekly"].map((name) => `reads ${name}`),
        "replaces nothing",
      ],
    ],
    ["pipe", "no pipe is waited for when everything is taken back", ["/etc/opsctl/weekly.env"]],
    ["broken off", "nothing stays in the temporary directory after a signal", ["ended"]],
    // webhook-unit.test.ts gives them to systemd-analyze.
    ["units", "both units are there byte for byte", []],
    [
      "cron",
      "each cron line runs as its user, with logs that belong to the service user",
      [
        ...["collect-metrics", "socket-monitor-cron", "weekly"].map(
          (name) => `opsctl /var/log/opsctl/${name}.log`,
        ),
        ...["collect-metrics", "socket-monitor", "weekly"].map((name) => `called with: ${name} --json`),
      ],
    ],
    [
      "left",
      "secrets, edited files, logs, state and the user stay",
      [
        "/etc/opsctl/secrets/DATABASE_URL",
        "/etc/opsctl/weekly.env",
        "/var/lib/opsctl/state.db",
        ...["collect-metrics", "socket-monitor-cron", "weekly"].map((name) => `/var/log/opsctl/${name}.log`),
        "opsctl",
      ],
    ],
  ])("%s: %s", (heading, _what, lines) => {
    expect(part(heading).sort()).toEqual(lines.sort());
  });

  test("install starts and enables nothing, and says what remains", () => {
    const said = part("install").join("\n");
    expect(said).not.toMatch(/^systemctl/m);
    for (const words of ["opsctl migrate", "systemctl daemon-reload", "enable --now", "opsctl doctor"])
      expect(said).toContain(words);
  });

  test("uninstall stops the units first and has systemd reload last", () => {
    expect(part("uninstall").filter((line) => line.startsWith("systemctl"))).toEqual([
      "systemctl disable --now opsctl-webhook.socket opsctl-webhook.service",
      "systemctl daemon-reload",
    ]);
  });
});
