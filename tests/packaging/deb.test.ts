/** The Debian package and the tarball, made with a stand-in for the binary: their files, and what their scripts say. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { findDebianTool } from "../support/debian-tool.ts";
import { has, requires } from "../support/requires.ts";
import { type Clone, type Ran, removeClone, run, STAND_IN } from "../systemd/support/clone.ts";
import { makePackage, packageSource } from "./support/package-source.ts";

const VERSION = "1.2.3~20260102030405.0123456789ab";
const shellcheck = findDebianTool({ program: "shellcheck", packageName: "shellcheck" });
const SCRIPTS = ["preinst", "postinst", "prerm", "postrm"];

let clone: Clone;
let deb: string;
beforeAll(() => {
  clone = packageSource();
  if (has("dpkg")) deb = make("deb", "one.deb");
});
afterAll(() => removeClone(clone));

/** Makes a package; its path. */
function make(kind: "deb" | "tarball", name: string, umask = "022"): string {
  const target = join(clone.folder, name);
  const made = makePackage(clone, kind, { version: VERSION, target, umask });
  expect(made).toMatchObject({ stderr: "", status: 0 });
  return target;
}

function sh(words: string): Ran {
  return run("sh", ["-c", words], { cwd: clone.clone });
}

/** The owner, mode and path of all that an archive holds. */
function contents(listing: string): string[] {
  return listing
    .trim()
    .split("\n")
    .map((line) => line.split(/\s+/))
    .map(([mode, owner, , , , path]) => `${mode} ${owner} ${path}`);
}

const control = (name: string) => run("dpkg-deb", ["-I", deb, name]).stdout;
const fileOf = (path: string) => sh(`dpkg-deb --fsys-tarfile '${deb}' | tar -xO '.${path}'`).stdout;

requires("dpkg").describe("packaging/deb.sh", () => {
  test("makes a package whose files are root's, open to all readers and closed to all writers", () => {
    const files = contents(run("dpkg-deb", ["-c", deb]).stdout);
    expect(files.length).toBeGreaterThan(40);
    expect(files.filter((line) => !/^(drwxr-xr-x|-rwxr-xr-x|-rw-r--r--) root\/root \.\//.test(line))).toEqual(
      [],
    );
  });

  test("has units, samples and tasks at a package's places, and neither settings nor secrets", () => {
    const paths = contents(run("dpkg-deb", ["-c", deb]).stdout).map((line) => line.split(" ./")[1]!);
    for (const path of [
      "usr/bin/opsctl",
      "usr/lib/systemd/system/opsctl-webhook.service",
      "usr/lib/systemd/system/opsctl-webhook.socket",
      "etc/cron.d/opsctl",
      "etc/logrotate.d/opsctl",
      "etc/opsctl/weekly.env.example",
      "usr/share/opsctl/firewall/opsctl-webhook.nft",
      "usr/share/opsctl/install.sh",
      "usr/share/doc/opsctl/docs/install.md",
      "usr/share/doc/opsctl/opsctl.cdx.json",
      "usr/share/doc/opsctl/third-party-licences.txt",
    ])
      expect(paths).toContain(path);
    expect(paths.filter((path) => /\.env$|secrets|usr\/local|^var|etc\/systemd/.test(path))).toEqual([]);
    expect(fileOf("/usr/lib/systemd/system/opsctl-webhook.service")).toContain(
      "\nExecStart=/usr/bin/opsctl webhook",
    );
    expect(fileOf("/usr/lib/systemd/system/opsctl-webhook.service")).toStartWith(
      "# Installed as /usr/lib/systemd/",
    );
  });

  test("calls every file below /etc the operator's own, and no other", () => {
    const paths = contents(run("dpkg-deb", ["-c", deb]).stdout).filter((line) => line.startsWith("-"));
    const belowEtc = paths.map((line) => line.split(" .")[1]!).filter((path) => path.startsWith("/etc/"));
    expect(control("conffiles").trim().split("\n").sort()).toEqual(belowEtc.sort());
  });

  test("says version, architecture and size", () => {
    const fields = control("control");
    expect(fields).toContain(`\nVersion: ${VERSION}\n`);
    expect(fields).toContain("\nArchitecture: amd64\n");
    expect(fields).toMatch(/\nInstalled-Size: \d{3,}\n/);
    expect(fields).not.toMatch(/@[A-Z]+@/);
  });

  test("has a cron file that is silent once the program is gone", () => {
    const lines = fileOf("/etc/cron.d/opsctl")
      .split("\n")
      .filter((line) => /^[\d*]/.test(line));
    expect(lines).toHaveLength(3);
    for (const line of lines)
      expect(line).toMatch(/ (opsctl|root) \[ ! -x \/usr\/bin\/opsctl \] \|\| (exec )?env /);
  });

  test.each(SCRIPTS)("has a %s that a shell understands", (name) => {
    const path = join(clone.folder, name);
    writeFileSync(path, control(name));
    expect(run("sh", ["-n", path])).toMatchObject({ status: 0, stderr: "" });
  });

  requires("shellcheck").test("has scripts in which shellcheck finds nothing", () => {
    const installed = SCRIPTS.map((name) => {
      const path = join(clone.folder, `checked-${name}`);
      writeFileSync(path, control(name));
      return path;
    });
    const sources = ["packaging/*.sh", "systemd/*.sh"].join(" ");
    expect(sh(`${shellcheck} --external-sources ${sources} ${installed.join(" ")}`).stdout).toBe("");
  });

  test("has the same bytes again, made later and under another umask", () => {
    for (const name of ["README.md", "systemd/opsctl.cron"]) utimesSync(join(clone.clone, name), 1, 1);
    chmodSync(join(clone.clone, "docs/install.md"), 0o600);
    const again = make("deb", "two.deb", "077");
    expect(readFileSync(again).equals(readFileSync(deb))).toBe(true);
    expect(hasOneTime(sh(`TZ=UTC dpkg-deb -c '${deb}'`).stdout)).toBe(true);
  });
});

/** Whether every file of a listing has the time of the commit. */
function hasOneTime(listing: string): boolean {
  const lines = listing.trim().split("\n");
  return lines.every((line) => line.includes(" 2026-01-02 03:04 "));
}

describe("packaging/tarball.sh", () => {
  test("has the same bytes again, and installs itself", () => {
    const [one, two] = [make("tarball", "one.tar.gz"), make("tarball", "two.tar.gz", "077")];
    expect(readFileSync(one).equals(readFileSync(two))).toBe(true);
    expect(hasOneTime(sh(`TZ=UTC tar -tvzf '${one}'`).stdout)).toBe(true);
    const place = join(clone.folder, "unpacked");
    mkdirSync(place);
    expect(run("tar", ["-xzf", one, "-C", place]).status).toBe(0);
    const folder = join(place, `opsctl-${VERSION}-linux-x64`);
    const installed = run("sh", ["systemd/install.sh", "install"], {
      cwd: folder,
      env: { PATH: process.env.PATH, DESTDIR: join(place, "dest") },
    });
    expect(installed).toMatchObject({ status: 0, stderr: "" });
    expect(readFileSync(join(place, "dest/usr/local/bin/opsctl"), "utf8")).toBe(STAND_IN);
  });
});
