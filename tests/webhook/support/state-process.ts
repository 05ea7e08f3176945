import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";

const ROOT = join(import.meta.dirname, "../../..");
const SCRIPT = join(import.meta.dirname, "state-child.ts");

/** A child that uses the state; `next` resolves to its next output, or to undefined when it has ended. */
export type StateProcess = {
  next(): Promise<unknown>;
  write(): void;
  kill(): Promise<void>;
};

/** Starts `state-child.ts` in a role, as the user `uid` if it is given. */
export function startStateProcess(
  role: "accept" | "reserve" | "claim" | "open",
  directory: string,
  identity: { uid?: number; gid?: number } = {},
): StateProcess {
  const child = spawn(process.execPath, ["run", SCRIPT, role, directory], {
    cwd: ROOT,
    stdio: ["pipe", "pipe", "inherit"],
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
    write: () => void child.stdin?.write("\n"),
    async kill() {
      if (child.pid !== undefined && !hasEnded) child.kill("SIGKILL");
      await ended;
    },
  };
}

function linesOf(child: ChildProcess): AsyncIterator<string> {
  if (child.stdout === null) throw new Error("the child has no output");
  return createInterface({ input: child.stdout })[Symbol.asyncIterator]();
}
