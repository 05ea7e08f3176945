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

echo "## old directory"
mkdir -m 700 /etc/opsctl
chown 65534:65534 /etc/opsctl
printf '#!/bin/sh\nfor last; do :; done\ncase $last in /etc/opsctl/*) stat -c %%U /etc/opsctl >> "$W/put-into" ;; esac\nexec /usr/bin/install "$@"\n' > "$W/stub/install"
printf '#!/bin/sh\necho "$*" >> "$W/became"\nexec /usr/bin/setpriv "$@"\n' > "$W/stub/setpriv"
chmod 755 "$W/stub/install" "$W/stub/setpriv"
echo "## install"
make install
rm "$W/stub/install" "$W/stub/setpriv"
echo "## put into whose directory"
sort -u "$W/put-into"
cat "$W/became" 2> /dev/null || echo "started nothing as the account"
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
echo "## open directory"
make install > /dev/null
chmod 0777 /etc/opsctl
chmod 0666 /etc/opsctl/collect-metrics.env
make install 2>&1 | grep -e 'belongs to root' -e 'others may write'
stat -c '%a %U' /etc/opsctl
mv /etc/opsctl "$W/linked"
chown opsctl "$W/linked"
ln -s "$W/linked" /etc/opsctl
make install 2>&1 | grep 'belongs to root'
stat -Lc '%a %U' /etc/opsctl
echo "## own settings"
chmod 0644 /etc/opsctl/webhook.env
chown root:root /etc/opsctl/alert-rules.env
make install 2>&1 | grep -e 'alone now' -e 'cannot read this one'
stat -c '%a %U:%G %n' /etc/opsctl/alert-rules.env /etc/opsctl/webhook.env
chown opsctl:opsctl /etc/opsctl/alert-rules.env
echo "## settings elsewhere"
mv /etc/opsctl/weekly.env "$W/weekly.env"
ln -s /etc/passwd /etc/opsctl/weekly.env
chown -h opsctl:opsctl /etc/opsctl/weekly.env
ln /etc/opsctl/webhook.env "$W/second-name"
make install 2>&1 | sed -n 's/.* no plain file: look at it, then \\([^;]*\\).*/\\1/p' > "$W/lines"
cat "$W/lines"
sh -e "$W/lines"
stat -c '%a %U' /etc/passwd
stat -c '%h %U' /etc/opsctl/webhook.env.foreign
mv -f "$W/weekly.env" /etc/opsctl/weekly.env
rm -f "$W/second-name" /etc/opsctl/*.foreign
make install > /dev/null 2>&1
echo "## closed directories"
chown root:root /var/log/opsctl /var/lib/opsctl
make install 2>&1 | grep 'closed to'
echo "## old secrets"
chown opsctl:opsctl /var/log/opsctl /var/lib/opsctl
rm -f /etc/opsctl
mv "$W/linked" /etc/opsctl
chown root:root /etc/opsctl
secrets=/etc/opsctl/secrets
old_layout() { chown -h opsctl:opsctl "$secrets"; chmod 0700 "$secrets"; }
old_layout
rm -rf "$secrets"/* /etc/opsctl/root-secrets
echo root-only > "$W/victim"
echo root-only > /etc/twin
chmod 0640 "$W/victim" /etc/twin
for name in DATABASE_URL MONITORING_TOKEN HOSTING_TOKEN MIGRATE_DATABASE_URL; do echo "$name" > "$secrets/$name"; done
chmod 0644 "$secrets/DATABASE_URL"
chown opsctl:opsctl "$secrets/HOSTING_TOKEN" "$secrets/DATABASE_URL" "$secrets/MIGRATE_DATABASE_URL"
chmod 0600 "$secrets/MONITORING_TOKEN"
as_service mv "$secrets/MONITORING_TOKEN" "$secrets/RENAMED"
as_service ln -s nowhere "$secrets/$(printf 'E\\033[2J\\nopsctl: X')"
ln -s "$W/victim" "$secrets/LINKED"
ln /etc/twin "$secrets/TWIN"
mkdir "$secrets/FOLDER"
make install 2>&1 | grep -e "^$secrets belongs" -e "^opsctl: $secrets"
find "$secrets" /etc/opsctl/root-secrets ! -name 'E*' -printf '%M %u:%g %p\n' | sort -k 3
cat /etc/opsctl/root-secrets/HOSTING_TOKEN
as_service sh -c ': > /etc/opsctl/secrets/new' 2> /dev/null || echo "makes nothing"
as_service cat /etc/opsctl/secrets/DATABASE_URL
find /etc/opsctl -printf '%p %T@ %C@\n' > "$W/before"
make install > /dev/null 2>&1
find /etc/opsctl -printf '%p %T@ %C@\n' > "$W/after"
cmp "$W/before" "$W/after" && echo same
echo "## raced secrets"
mkfifo "$W/racing"
cat "$W/racing" > /dev/null &
raced=$!
setpriv --reuid=opsctl --regid=opsctl --clear-groups --pdeathsig=KILL sh -c 'while :; do
  ln -sf "$0/victim" /etc/opsctl/secrets/RACED; ln -sf "$0/victim" /etc/opsctl/secrets/HOSTING_TOKEN
  rm -f /etc/opsctl/secrets/RACED; echo x > /etc/opsctl/secrets/RACED
  rm -f /etc/opsctl/secrets/HOSTING_TOKEN; echo x > /etc/opsctl/secrets/HOSTING_TOKEN
done' "$W" > "$W/racing" 2>&1 &
racer=$!
for round in 1 2 3 4 5 6; do old_layout; rm -f /etc/opsctl/root-secrets/HOSTING_TOKEN; make install > /dev/null 2>&1; done
kill "$racer"
# The pipe ends when the command that the racer had begun has ended, too.
wait "$raced"
stat -c '%a %U:%G' "$W/victim" /etc/twin
! grep -rl root-only /etc/opsctl/root-secrets || true
echo "## token of root's"
printf '#!/bin/sh\necho "$*" >> "$W/chowned"\nexec /usr/bin/chown "$@"\n' > "$W/stub/chown"
chmod 755 "$W/stub/chown"
rm -rf "$secrets"/* /etc/opsctl/root-secrets/*
for token in first second; do
  old_layout
  for name in HOSTING_TOKEN MIGRATE_DATABASE_URL; do
    echo "$token" > "$secrets/$name"
    chmod 0600 "$secrets/$name"
  done
  : > "$W/chowned"
  make install 2>&1 | grep 'not used any more'
  grep -e 'opsctl:opsctl.*HOSTING_TOKEN' -e 'opsctl:opsctl.*MIGRATE_DATABASE_URL' "$W/chowned"
  for name in HOSTING_TOKEN MIGRATE_DATABASE_URL; do
    stat -c '%a %U' "$secrets/$name" 2> /dev/null
    cat "/etc/opsctl/root-secrets/$name"
  done
done || true
rm "$W/stub/chown"
echo "## pipe"
rm -f /etc/opsctl/weekly.env
mkfifo /etc/opsctl/weekly.env
chown opsctl:opsctl /etc/opsctl
make uninstall > /dev/null &
uninstalling=$!
# Who opened the pipe waits for its writer; only then can one be opened without waiting.
while kill -0 "$uninstalling" 2> /dev/null; do
  perl -e 'use Fcntl; exit !sysopen(my $pipe, $ARGV[0], O_WRONLY | O_NONBLOCK)' /etc/opsctl/weekly.env 2> /dev/null && echo "waited for" && break
  sleep 0.05
done
wait "$uninstalling"
ls /etc/opsctl/weekly.env
stat -c %U /etc/opsctl
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

onHost.describe("make install on a host, as root", () => {
  test("runs to its end and says nothing on standard error", () => {
    expect([host.stderr, host.status]).toEqual(["", 0]);
  });

  test("makes the service user, without a shell, its home where it may be", () => {
    expect(part("account")).toEqual(["/var/lib/opsctl:/usr/sbin/nologin", "opsctl"]);
  });

  test("gives each file to the one who reads it, and the settings directory to root", () => {
    expect(part("install")).toContain("/etc/opsctl belongs to root now");
    expect(part("owners")).toEqual([
      "644 root:root /etc/cron.d/opsctl",
      "755 root:root /etc/opsctl",
      "600 opsctl:opsctl /etc/opsctl/alert-rules.env",
      "644 root:root /etc/opsctl/alert-rules.env.example",
      "600 root:root /etc/opsctl/collect-metrics.env",
      "644 root:root /etc/opsctl/collect-metrics.env.example",
      "700 root:root /etc/opsctl/root-secrets",
      "750 root:opsctl /etc/opsctl/secrets",
      "600 opsctl:opsctl /etc/opsctl/socket-monitor.env",
      "644 root:root /etc/opsctl/socket-monitor.env.example",
      "600 opsctl:opsctl /etc/opsctl/webhook.env",
      "644 root:root /etc/opsctl/webhook.env.example",
      "600 opsctl:opsctl /etc/opsctl/weekly.env",
      "644 root:root /etc/opsctl/weekly.env.example",
      "755 root:root /usr/local/bin",
      "755 root:root /usr/local/bin/opsctl",
      "755 root:root /var/lib",
      "700 opsctl:opsctl /var/lib/opsctl",
      "755 root:root /var/log",
      "750 opsctl:opsctl /var/log/opsctl",
    ]);
  });

  test("changes nothing when it is done again", () => {
    expect(part("again")).toEqual(["same"]);
  });

  test("lets the service user read its own files, and neither read nor replace root's", () => {
    expect(part("service user")).toEqual([
      "reads weekly",
      "reads webhook",
      "reads alert-rules",
      "reads socket-monitor",
      "replaces nothing",
    ]);
  });

  test("closes a settings file that the service reads itself, and gives it none of root's", () => {
    expect(part("own settings")).toEqual([
      "/etc/opsctl/webhook.env is open to opsctl alone now",
      "opsctl: opsctl reads /etc/opsctl/alert-rules.env itself and cannot read this one: look at it, then " +
        "chown -h opsctl:opsctl /etc/opsctl/alert-rules.env; chmod 0600 /etc/opsctl/alert-rules.env",
      "600 root:root /etc/opsctl/alert-rules.env",
      "600 opsctl:opsctl /etc/opsctl/webhook.env",
    ]);
  });

  test("has what is no plain file moved away: its line follows no link and gives no second name away", () => {
    expect(part("settings elsewhere")).toEqual([
      "mv -nT /etc/opsctl/webhook.env /etc/opsctl/webhook.env.foreign",
      "mv -nT /etc/opsctl/weekly.env /etc/opsctl/weekly.env.foreign",
      "644 root",
      "2 opsctl",
    ]);
  });

  test("closes a settings directory that others may write to, also behind a link", () => {
    expect(part("open directory")).toEqual([
      "/etc/opsctl belongs to root now",
      expect.stringContaining(
        "opsctl: root does not read /etc/opsctl/collect-metrics.env, which others may write",
      ),
      "755 root",
      "/etc/opsctl belongs to root now",
      "755 root",
    ]);
  });

  test("says which directory of another owner is closed to the service user", () => {
    const paths = ["/var/log/opsctl", "/var/lib/opsctl"];
    expect(part("closed directories")).toEqual(
      paths.map((path) => `opsctl: ${path} is closed to the user opsctl: chown -hR opsctl:opsctl ${path}`),
    );
  });

  test("puts nothing into a directory that the service user could change meanwhile, and starts nothing as it", () => {
    expect(part("put into whose directory")).toEqual(["root", "started nothing as the account"]);
  });

  test("waits for no pipe when it takes everything back", () => {
    expect(part("pipe")).toEqual(["/etc/opsctl/weekly.env", "root"]);
  });

  test("never gives the service user a token of root's that stands among its secrets", () => {
    const left = (name: string) =>
      `opsctl: /etc/opsctl/root-secrets/${name} is there: /etc/opsctl/secrets/${name} is not used any more, remove it`;
    expect(part("token of root's")).toEqual([
      ...["first", "first"],
      ...[left("HOSTING_TOKEN"), left("MIGRATE_DATABASE_URL")],
      ...["600 root", "first", "600 root", "first"],
    ]);
  });

  test("takes the secrets of an older installation over, and touches nothing through a link or a second name", () => {
    const names = ["E\\033[2J\\nopsctl:\\ X", "FOLDER", "LINKED", "RENAMED", "TWIN"];
    const odd = names.map(
      (name) =>
        `opsctl: /etc/opsctl/secrets/${name} is no plain file of opsctl (a link, a second name, another owner) and was left as it is` +
        (name === "RENAMED" ? "; if opsctl is to read it, chown it to opsctl:opsctl" : ""),
    );
    const [taken, ...rest] = part("old secrets");
    expect(taken).toBe("/etc/opsctl/secrets belongs to root now, and the files in it to opsctl");
    expect(rest.slice(0, 5).sort()).toEqual(odd);
    expect(rest.slice(5)).toEqual([
      "drwx------ root:root /etc/opsctl/root-secrets",
      "-rw------- root:root /etc/opsctl/root-secrets/HOSTING_TOKEN",
      "-rw------- root:root /etc/opsctl/root-secrets/MIGRATE_DATABASE_URL",
      "drwxr-x--- root:opsctl /etc/opsctl/secrets",
      "-rw------- opsctl:opsctl /etc/opsctl/secrets/DATABASE_URL",
      expect.stringMatching(/^drwx\S+ root:root \/etc\/opsctl\/secrets\/FOLDER$/),
      expect.stringMatching(/^lrwx\S+ root:root \/etc\/opsctl\/secrets\/LINKED$/),
      "-rw------- root:root /etc/opsctl/secrets/RENAMED",
      "-rw-r----- root:root /etc/opsctl/secrets/TWIN",
      "HOSTING_TOKEN",
      "makes nothing",
      "DATABASE_URL",
      "same",
    ]);
  });

  test("changes no file of root's, whatever the service user does with its old directory meanwhile", () => {
    expect(part("raced secrets")).toEqual(["640 root:root", "640 root:root"]);
  });

  test("leaves nothing in the temporary directory when it is told to end", () => {
    expect(part("broken off")).toEqual(["ended"]);
  });

  test("starts and enables nothing, and says what remains", () => {
    const said = part("install").join("\n");
    expect(said).not.toMatch(/^systemctl/m);
    for (const words of ["opsctl migrate", "systemctl daemon-reload", "enable --now", "opsctl doctor"])
      expect(said).toContain(words);
  });

  test("puts both units there byte for byte: webhook-unit.test.ts gives them to systemd-analyze", () => {
    expect(part("units")).toEqual([]);
  });

  test("lets each cron line run as its user, with logs that belong to the service user", () => {
    expect(part("cron")).toEqual([
      "opsctl /var/log/opsctl/collect-metrics.log",
      "opsctl /var/log/opsctl/socket-monitor-cron.log",
      "opsctl /var/log/opsctl/weekly.log",
      "called with: collect-metrics --json",
      "called with: socket-monitor --json",
      "called with: weekly --json",
    ]);
  });
});

onHost.describe("make uninstall on a host, as root", () => {
  test("stops the units first and tells systemd last", () => {
    expect(part("uninstall").filter((line) => line.startsWith("systemctl"))).toEqual([
      "systemctl disable --now opsctl-webhook.socket opsctl-webhook.service",
      "systemctl daemon-reload",
    ]);
  });

  test("leaves secrets, edited files, logs, state and the user", () => {
    expect(part("left").sort()).toEqual(
      [
        "/etc/opsctl/secrets/DATABASE_URL",
        "/etc/opsctl/weekly.env",
        "/var/lib/opsctl/state.db",
        "/var/log/opsctl/collect-metrics.log",
        "/var/log/opsctl/socket-monitor-cron.log",
        "/var/log/opsctl/weekly.log",
        "opsctl",
      ].sort(),
    );
  });
});
