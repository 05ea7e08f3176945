/** promtool, the metrics platform's own checker. */
import { spawnSync } from "node:child_process";
import process from "node:process";
import { findDebianTool } from "./debian-tool.ts";

/** The path of a promtool that runs, or null where there is none and none can be had. */
export function findPromtool(): string | null {
  return findDebianTool({ program: "promtool", packageName: "prometheus" });
}

/** Runs promtool; its status and everything it printed. */
export function runPromtool(tool: string, args: string[]): { status: number | null; output: string } {
  // A fifth of its time would go into giving memory back.
  const env = { ...process.env, GOGC: "400" };
  const { status, stdout, stderr } = spawnSync(tool, args, { env, encoding: "utf8" });
  return { status, output: `${stdout}${stderr}` };
}
