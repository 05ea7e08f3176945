import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import process from "node:process";
import { TOOLS } from "../../support/debian-packages.ts";
import { until } from "../../support/until.ts";

/** What the machine's Debian needs beside the minimum. */
export const MACHINE_PACKAGES = [
  "systemd",
  "systemd-sysv",
  "systemd-container",
  "dbus",
  "cron",
  "nftables",
  "logrotate",
  "iproute2",
  "make",
  "ufw",
  // What ufw calls, and what every installed Debian has.
  "procps",
];

const BOOT_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 30_000;
const INSIDE = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  LC_ALL: "C",
  SYSTEMD_COLORS: "0",
  SYSTEMD_PAGER: "",
};

/** How a program inside ended. */
export type RanInside = { status: number | null; output: string };

/** A booted Debian with systemd as its first process. */
export type Machine = {
  /** Its files, seen from outside. */
  path: string;
  run(words: string[]): Promise<RanInside>;
  /** The same, for what has to succeed: what it printed. */
  must(words: string[]): Promise<string>;
  reboot(): Promise<void>;
  /** Switches it off, as by its plug, and takes everything of it away. */
  [Symbol.asyncDispose](): Promise<void>;
};

/** One run of systemd-nspawn, from boot to power-off; `pid` is that of the unshare above it. */
type Nspawn = { pid: number; booted(): Promise<void>; off(): Promise<void>; kill(): Promise<void> };

/**
 * Boots a copy of a Debian root in the network namespace of a process, by systemd-nspawn out of the root itself.
 *
 * Errors: says what nspawn printed when no systemd came up.
 */
export async function bootMachine(root: string, networkPid: number): Promise<Machine> {
  const folder = mkdtempSync(join(TOOLS, "machine-"));
  const path = join(folder, "root");
  const name = `opsctl-${basename(folder)}`;
  let nspawn: Nspawn | undefined;
  const end = async () => {
    await nspawn?.kill();
    inNamespace(REMOVE_CGROUP, name);
  };
  const start = async () => {
    nspawn = spawnMachine(root, path, name, networkPid);
    await nspawn.booted();
  };
  const machine: Machine = {
    path,
    run: (words) => runInside(nspawn!.pid, words),
    must: async (words) => succeeded(words, await machine.run(words)),
    async reboot() {
      await machine.run(["systemctl", "reboot"]);
      await nspawn!.off();
      await end();
      await start();
    },
    async [Symbol.asyncDispose]() {
      await end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  try {
    copy(root, path);
    await start();
    return machine;
  } catch (error) {
    await machine[Symbol.asyncDispose]();
    throw error;
  }
}

function copy(from: string, to: string): void {
  const { status, stderr } = spawnSync("cp", ["-a", "--reflink=auto", from, to]);
  if (status !== 0) throw new Error(`Cannot copy ${from}: ${stderr}`);
}

/**
 * In mounts of its own: nspawn leaves nothing in /run, and finds one hierarchy of cgroups, also where v1 is mounted. In
 * a process namespace of its own: all of it ends with this process, however that ends.
 */
const START = `
mount -t tmpfs -o mode=755 none /run
touch /run/network
mount --bind "/proc/$2/ns/net" /run/network
mount -t cgroup2 none /sys/fs/cgroup
mkdir "/sys/fs/cgroup/$1"
echo $$ > "/sys/fs/cgroup/$1/cgroup.procs"
shift 2
exec unshare --pid --fork --kill-child --mount-proc "$@"`;

const REMOVE_CGROUP = `
mount -t cgroup2 none /sys/fs/cgroup
cd "/sys/fs/cgroup/$1"
echo 1 > cgroup.kill
while grep -q "populated 1" cgroup.events; do :; done
cd ..
find "./$1" -depth -type d -exec rmdir {} +`;

/** Whether this account may do what a machine is started with. */
export function canBoot(): boolean {
  const probe = `
    mount -t tmpfs none /run
    mount -t cgroup2 none /sys/fs/cgroup
    mkdir /sys/fs/cgroup/$1
    rmdir /sys/fs/cgroup/$1`;
  return (
    inNamespace(probe, `opsctl-probe-${process.pid}`) && spawnSync("unshare", ["--net", "true"]).status === 0
  );
}

function inNamespace(script: string, ...words: string[]): boolean {
  const { status } = spawnSync("unshare", ["--mount", "sh", "-euc", script, "sh", ...words]);
  return status === 0;
}

function spawnMachine(root: string, path: string, name: string, networkPid: number): Nspawn {
  const nspawn = [
    ...programOf(root, "systemd-nspawn"),
    ...["--boot", "--register=no", "--keep-unit", "--settings=no", "--console=pipe"],
    // For the filters of IPAddressDeny=, and for the machine's own firewall.
    "--capability=CAP_BPF,CAP_NET_ADMIN",
    ...["--resolv-conf=off", "--timezone=off", "--link-journal=no"],
    `--directory=${path}`,
    `--machine=${name}`,
    "--network-namespace-path=/run/network",
  ];
  const start = ["unshare", "--mount", "sh", "-euc", START, "sh", name, `${networkPid}`];
  const words = ["--pdeathsig", "KILL", ...start, ...nspawn];
  return watch(spawn("setpriv", words, { stdio: ["ignore", "pipe", "pipe"] }));
}

/** A program of the root with the root's own libraries: the host may have none, or one too old for what it boots. */
function programOf(root: string, program: string): string[] {
  const kind = readdirSync(join(root, "usr/lib")).find((name) => name.includes("-linux-gnu"))!;
  const libraries = join(root, "usr/lib", kind);
  const loader = readdirSync(libraries).find((name) => name.startsWith("ld-linux-"))!;
  const path = `${libraries}:${join(libraries, "systemd")}`;
  return [join(libraries, loader), "--library-path", path, join(root, "usr/bin", program)];
}

function watch(child: ChildProcess): Nspawn {
  let said = "";
  for (const stream of [child.stdout!, child.stderr!]) stream.on("data", (text) => (said += text));
  let hasEnded = false;
  const ended = once(child, "close").then(() => {
    hasEnded = true;
  });
  return {
    pid: child.pid!,
    async booted() {
      await until("systemd is up", async () => hasEnded || (await isUp(child.pid!)), BOOT_LIMIT_MS);
      if (hasEnded) throw new Error(`systemd-nspawn ended: ${said.trim()}`);
    },
    async off() {
      await until("systemd is down", () => hasEnded, STOP_LIMIT_MS);
    },
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** The machine's first process as this machine numbers it: below nspawn, which is below unshare. */
function firstProcess(unsharePid: number): string | undefined {
  const [nspawn] = childrenOf(`${unsharePid}`);
  return nspawn === undefined ? undefined : childrenOf(nspawn)[0];
}

function childrenOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
  } catch {
    return [];
  }
}

async function runInside(unsharePid: number, words: string[]): Promise<RanInside> {
  const pid = firstProcess(unsharePid);
  if (pid === undefined) return { status: null, output: "the machine is down" };
  const namespaces = ["--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup", "--root", "--wd"];
  const child = spawn("nsenter", [`--target=${pid}`, ...namespaces, "--", ...words], {
    env: INSIDE,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (output += text));
  const [status] = (await once(child, "close")) as [number | null];
  return { status, output: output.trim() };
}

async function isUp(unsharePid: number): Promise<boolean> {
  const { output } = await runInside(unsharePid, ["systemctl", "is-system-running"]);
  return ["running", "degraded"].includes(output);
}

function succeeded(words: string[], { status, output }: RanInside): string {
  if (status !== 0) throw new Error(`${words.join(" ")} ended with ${status}: ${output}`);
  return output;
}
