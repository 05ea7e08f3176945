import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { basename } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";

/** The exit status of an integration test that could not be tried here. */
export const NOT_TRIED = 77;

/** The result of one integration test; `reason` is its last line of output, or how it ended. */
export type IntegrationResult = {
  name: string;
  status: "passed" | "failed" | "not tried";
  reason: string;
  seconds: number;
};

/** How an integration test is run. */
export type IntegrationOptions = {
  /** Gets each line that the test prints, on either stream. */
  print(line: string): void;
  /** After this time the test is asked to end, which counts as a failure. */
  limitMs: number;
  /** Between being asked to end and being killed. */
  graceMs: number;
  signal?: AbortSignal;
};

/** `systemd` for `tests/integration/systemd.integration.ts`. */
export function integrationName(path: string): string {
  return basename(path, ".integration.ts");
}

/**
 * Runs one integration test as a process of this runtime.
 *
 * Behaviour: exit status 0 is `passed`, 77 with a last line is `not tried`, anything else `failed`. The process has a
 *            session of its own: a terminal interrupts this run, and this run asks the test to clear up.
 */
export async function runIntegration(path: string, options: IntegrationOptions): Promise<IntegrationResult> {
  const startedMs = performance.now();
  const child = spawn(process.execPath, [path], { stdio: ["ignore", "pipe", "pipe"], detached: true });
  const lastLine = printLines(child, options.print);
  const isOverdue = endInTime(child, options);
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  const limit = isOverdue() ? `was not done after ${options.limitMs / 1000} s` : null;
  const ended = limit ?? (signal === null ? `ended with ${code}` : `ended by ${signal}`);
  return {
    name: integrationName(path),
    ...judge(limit === null ? code : null, lastLine(), ended),
    seconds: Math.round((performance.now() - startedMs) / 1000),
  };
}

function judge(
  code: number | null,
  last: string,
  ended: string,
): Pick<IntegrationResult, "status" | "reason"> {
  if (code === 0) return { status: "passed", reason: last };
  if (code !== NOT_TRIED) return { status: "failed", reason: ended };
  if (last === "") return { status: "failed", reason: "ended with 77 and did not say why" };
  return { status: "not tried", reason: last };
}

function printLines(child: ChildProcess, print: (line: string) => void): () => string {
  let last = "";
  for (const stream of [child.stdout!, child.stderr!])
    createInterface({ input: stream }).on("line", (line) => {
      if (line.trim() !== "") last = line.trim();
      print(line);
    });
  return () => last;
}

/** Asks the child to end at the limit or when this run is interrupted, so that it can clear up, then kills it. */
function endInTime(child: ChildProcess, { limitMs, graceMs, signal }: IntegrationOptions): () => boolean {
  let isOverdue = false;
  let kill: Timer | undefined;
  const end = () => {
    child.kill("SIGTERM");
    kill ??= setTimeout(() => child.kill("SIGKILL"), graceMs);
  };
  const limit = setTimeout(() => {
    isOverdue = true;
    end();
  }, limitMs);
  signal?.addEventListener("abort", end);
  child.once("exit", () => {
    clearTimeout(limit);
    clearTimeout(kill);
    signal?.removeEventListener("abort", end);
    // A process that the test left behind may keep its streams open for ever.
    const letGo = setTimeout(() => [child.stdout, child.stderr].map((stream) => stream!.destroy()), graceMs);
    child.once("close", () => clearTimeout(letGo));
  });
  return () => isOverdue;
}
