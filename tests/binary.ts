/**
 * The three ways in which opsctl runs, for tests that treat it as a black box.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

/** The folder of the sources. */
export const ROOT = join(import.meta.dirname, "..");

/** How a run ended. */
export type Ended = { status: number | null; stdout: string; stderr: string };

/** One way to run opsctl: the words before the arguments. */
export type Runtime = { name: "binary" | "bun" | "deno"; command: () => string[] };

/** The compiled program, the sources under Bun and the sources under Deno. */
export const RUNTIMES: readonly Runtime[] = [
  { name: "binary", command: () => [builtBinary()] },
  { name: "bun", command: () => [process.execPath, join(ROOT, "cli/main.ts")] },
  {
    name: "deno",
    command: () => [join(ROOT, "node_modules/.bin/deno"), "run", "-A", join(ROOT, "cli/main.ts")],
  },
];

/** The variables that a program needs to start at all, and none of the tests' own. */
export const BARE_ENV: Record<string, string> = {
  PATH: process.env.PATH ?? "",
  HOME: process.env.HOME ?? "/",
  DENO_NO_UPDATE_CHECK: "1",
};

let built: string | undefined;

/** The compiled program, built once with the flags of `make build` and kept apart from `dist`. */
export function builtBinary(): string {
  if (built !== undefined) return built;
  const folder = mkdtempSync(join(tmpdir(), "opsctl-binary-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "opsctl");
  const dryRun = spawnSync("make", ["-n", "build"], { cwd: ROOT, encoding: "utf8" });
  const line = dryRun.stdout.split("\n").find((text) => text.includes("--compile"));
  if (line === undefined) throw new Error(`make -n build shows no compile command: ${dryRun.stderr}`);
  const command = line.replace("--outfile dist/opsctl", `--outfile ${path}`);
  const build = spawnSync("sh", ["-c", command], { cwd: ROOT, encoding: "utf8" });
  if (build.status !== 0) throw new Error(`${command} failed: ${build.stderr}`);
  built = path;
  return path;
}

/** Runs opsctl to its end; `shell` is put behind the command, for redirections. */
export function runOpsctl(
  runtime: Runtime,
  args: readonly string[],
  options: { env?: Record<string, string>; cwd?: string; shell?: string } = {},
): Ended {
  const words = [...runtime.command(), ...args];
  const env = { ...BARE_ENV, ...options.env };
  const settings = { env, cwd: options.cwd ?? ROOT, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 } as const;
  const ended =
    options.shell === undefined
      ? spawnSync(words[0] as string, words.slice(1), settings)
      : spawnSync("bash", ["-c", `"$@" ${options.shell}`, "bash", ...words], settings);
  return { status: ended.status, stdout: ended.stdout, stderr: ended.stderr };
}
