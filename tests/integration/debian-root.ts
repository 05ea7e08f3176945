import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { debianPackages, TOOLS } from "../support/debian-packages.ts";
import { putOnPath } from "../support/debian-tool.ts";

/** Debian's stable release; another one is tried with OPSCTL_TEST_DEBIAN=bookworm. */
const RELEASE = process.env.OPSCTL_TEST_DEBIAN || "trixie";
const MIRROR = "http://deb.debian.org/debian";
/** Ends with this process, and what it mounted below the target or started there is gone then. */
const BOUND = ["--pdeathsig", "KILL", "unshare", "--mount", "--pid", "--fork", "--kill-child"];
const MAKERS = ["debootstrap", "debian-archive-keyring"];
/** What debootstrap downloads with; a minimal Debian has none. */
const WGET = { program: "wget", packageName: "wget" };

/**
 * A whole Debian (`RELEASE`, minimal, with `packages`) in a folder of `.tools`: debootstrapped by the first that asks
 * for these packages and shared by all later ones, which therefore write to a copy or an overlay of it.
 *
 * Shape: the folder, or why there is none, as a sentence for people.
 */
export async function debianRoot({
  packages = [],
}: {
  packages?: string[];
}): Promise<{ path: string } | { missing: string }> {
  const path = join(TOOLS, folderName(packages));
  if (existsSync(path)) return { path };
  if (process.getuid?.() !== 0)
    return { missing: "a Debian root needs root to be made: sudo make integration" };
  const makers = debianPackages("debian/debootstrap", () => MAKERS);
  if (makers === null || !putOnPath(WGET))
    return { missing: `${MAKERS.join(", ")} or wget cannot be had: no apt-get, or no mirror within reach` };
  mkdirSync(TOOLS, { recursive: true });
  const folder = mkdtempSync(join(TOOLS, `${RELEASE}-new-`));
  try {
    const failure = await debootstrap(makers, packages, join(folder, "root"));
    if (failure !== null) return { missing: `debootstrap failed: ${failure}` };
    renameSync(join(folder, "root"), path);
    return { path };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function folderName(packages: string[]): string {
  if (packages.length === 0) return RELEASE;
  const names = [...new Set(packages)].sort().join(" ");
  return `${RELEASE}-${createHash("sha256").update(names).digest("hex").slice(0, 8)}`;
}

/** Null, or the last lines of what debootstrap printed. */
async function debootstrap(makers: string, packages: string[], target: string): Promise<string | null> {
  const words = [
    join(makers, "usr/sbin/debootstrap"),
    "--variant=minbase",
    "--force-check-gpg",
    `--keyring=${join(makers, "usr/share/keyrings/debian-archive-keyring.gpg")}`,
    ...(packages.length === 0 ? [] : [`--include=${packages.join(",")}`]),
    RELEASE,
    target,
    MIRROR,
  ];
  const env = { ...process.env, DEBOOTSTRAP_DIR: join(makers, "usr/share/debootstrap") };
  const child = spawn("setpriv", [...BOUND, ...words], { env, stdio: ["ignore", "pipe", "pipe"] });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (text) => lines.push(...String(text).trim().split("\n")));
  const interruption = endWhenInterrupted(child);
  const status = await once(child, "close").then(
    ([code]) => code,
    () => null,
  );
  if (interruption.hasCome()) return "interrupted";
  return status === 0 ? null : lines.slice(-3).join(" / ");
}

/** So that the caller takes away what there is of the root, instead of leaving half of one behind. */
function endWhenInterrupted(child: ChildProcess): { hasCome(): boolean } {
  let isInterrupted = false;
  const end = () => {
    isInterrupted = true;
    child.kill("SIGKILL");
  };
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.on(signal, end);
    child.once("close", () => process.off(signal, end));
  }
  return { hasCome: () => isInterrupted };
}
