/** promtool, the metrics platform's own checker. */
import { spawnSync } from "node:child_process";
import process from "node:process";
import { findDebianTool } from "./debian-tool.ts";

/** The path of a promtool that runs, or null where there is none and none can be had. */
export function findPromtool(): string | null {
  return findDebianTool({ program: "promtool", packageName: "prometheus" });
}

/** Runs promtool, which must be there; its status and everything it printed. */
export function runPromtool(args: string[], input?: string): { status: number | null; output: string } {
  const tool = findPromtool();
  if (tool === null) throw new Error("promtool is not there: ask for it with requires()");
  // A fifth of its time would go into giving memory back.
  const env = { ...process.env, GOGC: "400" };
  const { status, stdout, stderr } = spawnSync(tool, args, { env, input, encoding: "utf8" });
  return { status, output: `${stdout}${stderr}` };
}
