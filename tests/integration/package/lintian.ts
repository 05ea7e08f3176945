import { spawnSync } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { TOOLS } from "../../support/debian-packages.ts";
import { findDebianTool } from "../../support/debian-tool.ts";

/** Debian's own judge of packages; null where it cannot be had. It may have to be downloaded. */
export function findLintian(): string | null {
  // Out of its package it does not find the compiled modules of its language.
  const { stdout: modules } = spawnSync("perl", ["-MConfig", "-e", "print $Config{vendorarch}"], {
    encoding: "utf8",
  });
  process.env.PERL5LIB = join(TOOLS, "debian/lintian-with-dependencies", modules ?? "");
  return findDebianTool({ program: "lintian", packageName: "lintian", readsShare: true, needsOthers: true });
}

/** What it says of a package: its errors and warnings, or null where it cannot be had. */
export function lintian(deb: string): { errors: string[]; warnings: string[] } | null {
  const path = findLintian();
  if (path === null) return null;
  const words = ["--allow-root", "--tag-display-limit", "0", deb];
  const { stdout, stderr, status } = spawnSync(path, words, { encoding: "utf8" });
  if (status !== 0 && status !== 2) throw new Error(`lintian ended with ${status}: ${stderr}`);
  const lines = stdout.split("\n");
  return {
    errors: lines.filter((line) => line.startsWith("E:")),
    warnings: lines.filter((line) => line.startsWith("W:")),
  };
}
