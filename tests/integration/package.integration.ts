/** The Debian package on a booted Debian: see `package/scenario.ts`. It needs root, and nothing of it stays. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { opsctlBinary } from "../support/binary.ts";
import { putOnPath } from "../support/debian-tool.ts";
import { IPROUTE2 } from "../support/iproute2.ts";
import { debianRoot } from "./debian-root.ts";
import { findLintian } from "./package/lintian.ts";
import { endAs, notTried } from "./program.ts";
import { canBoot, MACHINE_PACKAGES } from "./systemd/machine.ts";

if (process.getuid?.() !== 0) notTried("a booted Debian needs root: sudo make integration");
if (process.arch !== "x64") notTried("the package that is installed here is the one for amd64");
if (spawnSync("dpkg-deb", ["--version"]).status !== 0) notTried("a Debian package needs dpkg-deb to be made");
if (!IPROUTE2.every(putOnPath)) notTried("it needs ip, of the package iproute2, which cannot be had");
if (!canBoot()) notTried("a booted Debian needs the right to mounts, network namespaces and cgroup v2");
const root = await debianRoot({ packages: MACHINE_PACKAGES });
if ("missing" in root) notTried(root.missing);
const binary = await opsctlBinary();
// The scenario has no network to get it from.
findLintian();

// In a network of its own, in which nothing is reached.
const scenario = [process.execPath, join(import.meta.dirname, "package/scenario.ts"), root.path, binary];
await endAs("setpriv", ["--pdeathsig", "TERM", "unshare", "--net", ...scenario], {
  detached: true,
});
