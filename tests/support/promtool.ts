/** promtool, the metrics store's own checker. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { findDebianTool } from "./debian-tool.ts";

/** The path of a promtool that runs, or null where there is none and none can be had. */
export function findPromtool(): string | null {
  return findDebianTool({ program: "promtool", packageName: "prometheus" });
}

/** Runs promtool, which must be there; its status and everything it printed. */
export function runPromtool(
  args: string[],
  { input, cwd }: { input?: string; cwd?: string } = {},
): { status: number | null; output: string } {
  const tool = findPromtool();
  if (tool === null) throw new Error("promtool is not there: ask for it with requires()");
  // A fifth of its time would go into giving memory back.
  const env = { ...process.env, GOGC: "400" };
  const { status, stdout, stderr } = spawnSync(tool, args, { env, input, cwd, encoding: "utf8" });
  return { status, output: `${stdout}${stderr}` };
}

/** What promtool finds wrong with these files, each given as JSON, which is YAML; nothing when all is well. */
export function promtoolFindings(args: string[], files: Record<string, object>): string {
  const folder = mkdtempSync(join(tmpdir(), "opsctl-promtool-"));
  try {
    for (const [name, content] of Object.entries(files))
      writeFileSync(join(folder, name), JSON.stringify(content));
    const { status, output } = runPromtool(args, { cwd: folder });
    return status === 0 && output.includes("SUCCESS") ? "" : output || `promtool ended with ${status}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
