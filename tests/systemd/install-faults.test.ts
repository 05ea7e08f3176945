/** Installations that broke off, and hosts that are not as expected. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { type Clone, make, makeClone, type Ran, removeClone, run, treeOf } from "./support/clone.ts";

let clone: Clone;
beforeEach(() => {
  clone = makeClone();
});
afterEach(() => removeClone(clone));

const at = (path: string) => join(clone.destdir, path);

function done(target: "install" | "uninstall", words: string[] = []): Ran {
  const ran = make(clone, [target, `DESTDIR=${clone.destdir}`, ...words]);
  expect([ran.stderr, ran.status]).toEqual(["", 0]);
  return ran;
}

/** Runs the script itself with programs of the test before those of the system. */
function installWith(stubs: Record<string, string>): Ran {
  const folder = join(clone.folder, "stub");
  mkdirSync(folder, { recursive: true });
  for (const [name, body] of Object.entries(stubs))
    writeFileSync(join(folder, name), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  return run("sh", ["systemd/install.sh", "install"], {
    cwd: clone.clone,
    env: {
      ...process.env,
      PATH: `${folder}:${process.env.PATH}`,
      DESTDIR: clone.destdir,
      PREFIX: "/usr/local",
      SYSCONFDIR: "/etc",
    },
  });
}

test("a link in the place of a new directory leads nowhere", () => {
  const victim = join(clone.folder, "victim");
  mkdirSync(victim, { mode: 0o711 });
  mkdirSync(at("/etc/opsctl"), { recursive: true });
  symlinkSync(victim, at("/etc/opsctl/root-secrets"));
  done("install");
  expect(lstatSync(victim).mode & 0o777).toBe(0o711);
  expect(lstatSync(at("/etc/opsctl/root-secrets")).isSymbolicLink()).toBe(true);
});

test("uninstall takes what an installation left when it broke off, and no editor's backup", () => {
  expect(
    installWith({ mv: 'case $* in *bin/opsctl*) exit 1 ;; *) exec /bin/mv "$@" ;; esac' }).status,
  ).not.toBe(0);
  expect(Object.keys(treeOf(clone.destdir)).some((path) => path.includes("bin/opsctl"))).toBe(true);
  mkdirSync(at("etc/opsctl"), { recursive: true });
  writeFileSync(at("etc/opsctl/webhook.env~"), "WEBHOOK_SECRET=x\n");
  done("install");
  writeFileSync(at("etc/opsctl/weekly.env.new~"), "");
  writeFileSync(at("usr/local/bin/opsctl.new~"), "");
  done("uninstall");
  const left = Object.entries(treeOf(clone.destdir)).filter(([, mode]) => !mode.startsWith("d"));
  expect(left.map(([path]) => path)).toEqual(["etc/opsctl/webhook.env~"]);
  expect(readFileSync(at("etc/opsctl/webhook.env~"), "utf8")).toBe("WEBHOOK_SECRET=x\n");
});

test("uninstall ends well where the directory of the secrets is a link, and leaves the link", () => {
  done("install");
  rmSync(at("etc/opsctl/secrets"), { recursive: true });
  mkdirSync(join(clone.folder, "elsewhere"));
  symlinkSync(join(clone.folder, "elsewhere"), at("etc/opsctl/secrets"));
  done("uninstall");
  expect(lstatSync(at("etc/opsctl/secrets")).isSymbolicLink()).toBe(true);
  expect(existsSync(at("etc/opsctl/webhook.env.example"))).toBe(false);
});

test("uninstall disables the units of an image, where no systemd does it", () => {
  done("install");
  const links = [
    "sockets.target.wants/opsctl-webhook.socket",
    "multi-user.target.wants/opsctl-webhook.service",
  ];
  for (const link of links) {
    const [folder, unit] = link.split("/") as [string, string];
    mkdirSync(at(`etc/systemd/system/${folder}`));
    symlinkSync(`/etc/systemd/system/${unit}`, at(`etc/systemd/system/${link}`));
  }
  done("uninstall");
  expect(Object.keys(treeOf(clone.destdir)).filter((path) => path.includes("opsctl-webhook"))).toEqual([]);
});

test("no owner of this host gets into an image", () => {
  const log = join(clone.folder, "chown-ran");
  const stubs = { id: "echo 0", getent: "exit 0", chown: `echo "$*" >> ${log}` };
  expect(installWith(stubs).status).toBe(0);
  expect(existsSync(log)).toBe(false);
});

test("a PREFIX that looks like a settings directory stays as it is", () => {
  done("install", ["PREFIX=/opt/etc/opsctl", "SYSCONFDIR=/srv/conf"]);
  const unit = readFileSync(at("srv/conf/systemd/system/opsctl-webhook.service"), "utf8");
  expect(unit).toContain("ExecStart=/opt/etc/opsctl/bin/opsctl webhook serve --digest-after 120\n");
  expect(unit).toContain("[Service]\nEnvironment=OPSCTL_ENV_DIR=/srv/conf/opsctl\n");
});

// Another spelling of /etc would be taken for an image, and the host would have neither user nor directories.
test.each([
  "SYSCONFDIR=/etc/.",
  "SYSCONFDIR=//etc",
  "SYSCONFDIR=/usr/../etc",
  "SYSCONFDIR=/",
  "PREFIX=/usr//local",
])("refuses %s and writes nothing", (word) => {
  const { status, stderr } = make(clone, ["install", `DESTDIR=${clone.destdir}`, word]);
  expect(status).not.toBe(0);
  expect(stderr).toContain("absolute paths below /");
  expect(existsSync(clone.destdir)).toBe(false);
});
