import { describe as bunDescribe, test as bunTest } from "bun:test";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { networkInterfaces } from "node:os";
import process from "node:process";
import { findAlertmanager, findMonitoring } from "../e2e/support/monitoring-process.ts";
import { canLayWire } from "../network/wire-tools.ts";
import { canAnalyze } from "../systemd/support/systemd-analyze.ts";
import { findChromium } from "./chromium.ts";
import { findDebianTool, putOnPath } from "./debian-tool.ts";
import { pictureFont } from "./picture-font.ts";
import { findPromtool } from "./promtool.ts";

/** The exporter whose text-file collector the agent has. */
export const NODE_EXPORTER = {
  program: "prometheus-node-exporter",
  packageName: "prometheus-node-exporter",
};

const ACL_TRIAL = 'f=$(mktemp) && setfacl -m u:64001:r "$f" && rm "$f"';

/** What some tests need of the machine, each with the question whether it is there. */
const CHECKS = {
  /** The account root. */
  root: () => process.geteuid?.() === 0,
  /** A file system in memory, mounted by this process. */
  mount: () => inNamespace("mount -t tmpfs none /run"),
  /** An account `opsctl` that only a mount namespace has. */
  account: () => inNamespace("mount --bind /etc/hosts /etc/passwd"),
  /** An IPv4 address of this machine that is not loopback. */
  address: () =>
    Object.values(networkInterfaces()).some((addresses) =>
      addresses?.some(({ family, internal }) => family === "IPv4" && !internal),
    ),
  /** A network of its own, in which nothing else opens sockets. */
  network: () => spawnSync("unshare", ["--net", "true"]).status === 0,
  /** `ss` where cron and systemd look for programs. */
  ss: () => ["/usr/sbin", "/usr/bin", "/sbin", "/bin"].some((place) => existsSync(`${place}/ss`)),
  chromium: () => findChromium() !== null,
  /** The fonts of the pictures. */
  fonts: () => pictureFont() !== null,
  /** Access control lists, and a file system of the tests that keeps them. */
  setfacl: () =>
    putOnPath({ program: "setfacl", packageName: "acl" }) && spawnSync("sh", ["-c", ACL_TRIAL]).status === 0,
  dpkg: () => spawnSync("dpkg-deb", ["--version"]).status === 0,
  logrotate: () => findDebianTool({ program: "logrotate", packageName: "logrotate" }) !== null,
  "systemd-analyze": canAnalyze,
  /** Two network namespaces with a wire between them, nft and busybox. */
  wire: canLayWire,
  promtool: () => findPromtool() !== null,
  alertmanager: () => findAlertmanager() !== null,
  /** Prometheus, its exporter and Alertmanager. */
  monitoring: () => findMonitoring() !== null,
  "node-exporter": () => findDebianTool(NODE_EXPORTER) !== null,
  shellcheck: () => findDebianTool({ program: "shellcheck", packageName: "shellcheck" }) !== null,
  mandoc: () => findDebianTool({ program: "mandoc", packageName: "mandoc", versionWord: "-Kutf-8" }) !== null,
  zsh: () => findDebianTool({ program: "zsh", packageName: "zsh", needsOthers: true }) !== null,
  fish: () => findDebianTool({ program: "fish", packageName: "fish" }) !== null,
};

/** Something that a machine may lack. */
export type Need = keyof typeof CHECKS;

const known = new Map<Need, boolean>();

/** Whether this machine has it; asked once in a process. */
export function has(need: Need): boolean {
  const answer = known.get(need) ?? CHECKS[need]();
  known.set(need, answer);
  return answer;
}

/**
 * `test` and `describe` for what needs more than every machine has; where something is missing they skip.
 *
 * Shape: `const { test, describe } = requires("root", "mount")`, or `requires("mount").test("...", run)`. The title of
 *        what is skipped ends with `[requires mount]`, by which tests/run.ts counts it; in CI a need that
 *        .ci/known-skips does not name fails the run.
 */
export function requires(...needs: Need[]): { test: typeof bunTest; describe: typeof bunDescribe } {
  const missing = needs.filter((need) => !has(need));
  if (missing.length === 0) return { test: bunTest, describe: bunDescribe };
  const tag = ` [requires ${missing.join(", ")}]`;
  return { test: skipping(bunTest, tag), describe: skipping(bunDescribe, tag) };
}

/** The same function, which skips everything and ends each title with the tag. */
function skipping<Define extends typeof bunTest | typeof bunDescribe>(define: Define, tag: string): Define {
  const skip = define.skip as unknown as (title: string, run: unknown) => void;
  const titled = (title: string, run: unknown) => skip(`${title}${tag}`, run);
  return Object.assign(titled, { each: () => titled }) as unknown as Define;
}

function inNamespace(command: string): boolean {
  return process.geteuid?.() === 0 && spawnSync("unshare", ["-m", "sh", "-c", command]).status === 0;
}
