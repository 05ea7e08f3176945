import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { denoCache } from "../../support/deno-cache.ts";

const ROOT = join(import.meta.dirname, "../../..");
const SCRIPT = join(import.meta.dirname, "state-child.ts");

/** How to run the child on each runtime. */
export const RUNTIMES = {
  Bun: [process.execPath, "run"],
  Deno: [join(ROOT, "node_modules/.bin/deno"), "run", "-A", "--no-lock"],
} as const;

/** A child that uses the state; `next` resolves to its next output, or to undefined when it has ended. */
export type StateProcess = {
  next(): Promise<unknown>;
  tell(): void;
  kill(): Promise<void>;
};

/** Starts `state-child.ts` in a role, as the user `uid` if it is given. */
export function startStateProcess(
  runtime: keyof typeof RUNTIMES,
  role: "accept" | "reserve" | "claim" | "open",
  directory: string,
  identity: { uid?: number; gid?: number } = {},
): StateProcess {
  const [command, ...args] = RUNTIMES[runtime];
  const child = spawn(command, [...args, SCRIPT, role, directory], {
    cwd: ROOT,
    env: { ...process.env, DENO_DIR: denoCache(), DENO_NO_UPDATE_CHECK: "1" },
    stdio: ["pipe", "pipe", "inherit"],
    // Deno from npm is a script that starts the real one: both have to go.
    detached: true,
    ...identity,
  });
  let hasEnded = false;
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve())).then(() => {
    hasEnded = true;
  });
  const lines = linesOf(child);
  return {
    async next() {
      const { value, done } = await lines.next();
      return done ? undefined : JSON.parse(value);
    },
    tell: () => void child.stdin?.write("\n"),
    async kill() {
      if (child.pid !== undefined && !hasEnded) process.kill(-child.pid, "SIGKILL");
      await ended;
    },
  };
}

function linesOf(child: ChildProcess): AsyncIterator<string> {
  if (child.stdout === null) throw new Error("the child has no output");
  return createInterface({ input: child.stdout })[Symbol.asyncIterator]();
}
