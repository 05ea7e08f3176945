/** What the demo runs on, and how it is taken down: a PostgreSQL of its own, three stand-ins, a folder, the binary. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** No settings file of this machine counts. */
const NO_FILES = { OPSCTL_ENV_DIR: "" };

/** The folder of the sources. */
export const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../..");

const GRACE_MS = 3_000;

/** A write beyond a limit fails, as it does on a full disk, and does not end the service. */
const WITHOUT_SIGXFSZ = `trap "" XFSZ; exec "$@"`;

/** How a command ended; `stdout` only when it was captured. */
export type Ended = { exitCode: number | null; stdout: string };

/** Everything that has to end when the demo does. */
export type Stage = {
  folder: string;
  logDir: string;
  secretsDir: string;
  /** Adds something to be stopped; the last added is stopped first. */
  onClose(stop: () => Promise<unknown>): void;
  /** A secret file that only its owner may read. */
  secret(name: string, value: string): void;
  /** Runs the real binary on the caller's terminal, or captures what it prints. */
  opsctl(args: string[], env: Record<string, string>, options?: { capture?: boolean }): Promise<Ended>;
  /** Runs it as a service, without a terminal, until the demo ends; returns its process once its log has the word. */
  serve(args: string[], env: Record<string, string>, word: string): Promise<number>;
  close(): Promise<void>;
};

/** Sets up the folder; nothing runs yet. */
export function openStage(): Stage {
  const folder = mkdtempSync(join(tmpdir(), "opsctl-demo-"));
  const [logDir, secretsDir] = [join(folder, "log"), join(folder, "secrets")];
  mkdirSync(logDir);
  mkdirSync(secretsDir, { mode: 0o700 });
  const stops: (() => Promise<unknown>)[] = [async () => rmSync(folder, { recursive: true, force: true })];
  const running = new Set<ChildProcess>();
  let closing: Promise<void> | undefined;

  async function closeAll(): Promise<void> {
    await Promise.all([...running].map(endChild));
    for (const stop of stops.reverse()) {
      await stop().catch((error: unknown) => console.error("While cleaning up:", error));
    }
  }

  return {
    folder,
    logDir,
    secretsDir,
    onClose: (stop) => void stops.push(stop),
    secret: (name, value) => writeFileSync(join(secretsDir, name), `${value}\n`, { mode: 0o600 }),
    async opsctl(args, env, { capture = false } = {}) {
      const child = spawn(join(ROOT, "dist/opsctl"), args, {
        env: { ...terminalEnv(), ...NO_FILES, ...env },
        stdio: ["ignore", capture ? "pipe" : "inherit", "inherit"],
      });
      running.add(child);
      let stdout = "";
      child.stdout?.setEncoding("utf8").on("data", (text: string) => {
        stdout += text;
      });
      try {
        const exitCode = await new Promise<number | null>((resolve, reject) => {
          child.once("error", reject);
          child.once("close", resolve);
        });
        return { exitCode, stdout };
      } finally {
        running.delete(child);
      }
    },
    async serve(args, env, word) {
      const child = spawn("sh", ["-c", WITHOUT_SIGXFSZ, "sh", join(ROOT, "dist/opsctl"), ...args], {
        env: { ...NO_FILES, ...env },
        stdio: ["ignore", "ignore", "pipe"],
      });
      running.add(child);
      child.once("close", () => running.delete(child));
      await saysWord(child, word);
      return child.pid!;
    },
    close() {
      closing ??= closeAll();
      return closing;
    },
  };
}

/** Resolves when the process has written the word to its log, rejects with the log when it ends before that. */
async function saysWord(child: ChildProcess, word: string): Promise<void> {
  let log = "";
  await new Promise<void>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", () => reject(new Error(`The service ended: ${log}`)));
    child.stderr!.setEncoding("utf8").on("data", (text: string) => {
      log += text;
      if (log.includes(word)) resolve();
    });
  });
}

/** Gives a process a moment to end by itself, then ends it. */
async function endChild(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once("close", resolve));
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), GRACE_MS);
  await ended;
  clearTimeout(timer);
}

function terminalEnv(): Record<string, string> {
  const names = ["TERM", "NO_COLOR", "COLUMNS"];
  return Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]!]] : [])));
}
