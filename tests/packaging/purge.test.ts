/** What a purge does with directories on which another disk is mounted; on disks of its own, in memory. */
import { expect } from "bun:test";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { requires } from "../support/requires.ts";

const POSTRM = join(import.meta.dirname, "../../packaging/debian/postrm");

/** No file of this machine is in reach of the purge. */
const PURGE = `
for directory in /etc /run /var/log /var/lib; do mount -t tmpfs none "$directory"; done
mkdir /var/log/opsctl /var/lib/opsctl
for directory in $2; do mount -t tmpfs none "$directory"; done
mkdir /var/log/opsctl/.old
touch /var/log/opsctl/weekly.log /var/log/opsctl/.old/weekly.log /var/lib/opsctl/state.lock
sh "$1" purge
find /var/log /var/lib -mindepth 1 | LC_ALL=C sort`;

requires("root", "mount").test("a purge empties what is mounted, and removes what is not", () => {
  const purge = (mounted: string) => {
    const words = ["--mount", "sh", "-euc", PURGE, "sh", POSTRM, mounted];
    const { status, stdout, stderr } = spawnSync("unshare", words, { encoding: "utf8" });
    return { status, stderr, left: stdout.split("\n").filter(Boolean) };
  };
  expect(purge("")).toEqual({ status: 0, stderr: "", left: [] });
  expect(purge("/var/log/opsctl /var/lib/opsctl")).toEqual({
    status: 0,
    stderr: "",
    left: ["/var/lib/opsctl", "/var/log/opsctl"],
  });
});
