/** A booted Debian with the installed units: see `systemd/scenario.ts`. It needs root, and nothing of it stays. */
import { join } from "node:path";
import process from "node:process";
import { opsctlBinary } from "../support/binary.ts";
import { putOnPath } from "../support/debian-tool.ts";
import { IPROUTE2 } from "../support/iproute2.ts";
import { debianRoot } from "./debian-root.ts";
import { endAs, notTried } from "./program.ts";
import { canBoot, MACHINE_PACKAGES } from "./systemd/machine.ts";

if (process.getuid?.() !== 0) notTried("a booted systemd needs root: sudo make integration");
if (!IPROUTE2.every(putOnPath))
  notTried("a booted systemd needs ip, of the package iproute2, which cannot be had");
if (!canBoot()) notTried("a booted systemd needs the right to mounts, network namespaces and cgroup v2");
const root = await debianRoot({ packages: MACHINE_PACKAGES });
if ("missing" in root) notTried(root.missing);
await opsctlBinary();

// In a network of its own, where the machine's neighbours have the addresses that they need.
const scenario = [process.execPath, join(import.meta.dirname, "systemd/scenario.ts"), root.path];
await endAs("setpriv", ["--pdeathsig", "TERM", "unshare", "--net", ...scenario], {
  env: { ...process.env, NO_PROXY: "*" },
  // A terminal's interrupt reaches this process alone, which asks that one to clear up.
  detached: true,
});
