import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import process from "node:process";
import type {
  DoctorDependencies,
  HandedLogin,
  ProgramEnd,
} from "../../../lib/doctor/context/dependencies.ts";
import type { FileReading } from "../../../lib/doctor/facts/outbox.ts";
import { findServiceAccount, type ServiceAccount } from "../../../lib/platform/account/service-account.ts";
import { openDatabase } from "../../../lib/platform/database/pool.ts";
import { keepLoopbackOffProxies } from "../../../lib/platform/http/proxy.ts";
import type { Environment } from "../../../lib/platform/secrets/adapter.ts";
import { waitWhileFree } from "../../../lib/platform/wait-while-free.ts";
import { ADMIN_URL } from "../../../lib/webhook/http/service-health.ts";
import { internalCommand } from "../../child-process/internal-command.ts";

/** How long each check may take, so that doctor ends within five seconds. */
export const LIMIT_MS = 4_000;
/**
 * The longest that it takes where this process hardly gets a processor: it would otherwise say of peers that are well
 * that they do not answer, because it comes too late to their answers.
 */
export const BUSY_LIMIT_MS = 12_000;
/** For the service account: a directory service that hangs is named before a person thinks that doctor does. */
export const ACCOUNT_LIMIT_MS = 2_000;
/** Of the time of a check, which then names the secret command that hangs. */
const SECRET_COMMAND_PART = 0.75;
const DATABASE_CONNECTIONS = 4;

/**
 * What `opsctl doctor` uses on this host; `limitMs` is how long each check may take, `findAccount` how the service
 * account is found, for a caller that has looked already.
 */
export function openDoctorDependencies({
  env,
  envDir,
  handedLogin = null,
  limitMs = LIMIT_MS,
  findAccount = () => findServiceAccount(ACCOUNT_LIMIT_MS),
}: {
  env: Environment;
  envDir: string;
  handedLogin?: HandedLogin | null;
  limitMs?: number;
  findAccount?: () => Promise<ServiceAccount | null>;
}): DoctorDependencies {
  keepLoopbackOffProxies(process.env);
  return {
    env,
    envDir,
    handedLogin,
    paths: {
      passwd: "/etc/passwd",
      group: "/etc/group",
      localtime: "/etc/localtime",
      cronFile: "/etc/cron.d/opsctl",
      unitDirs: ["/etc/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system"],
      procNet: "/proc/net",
    },
    adminUrl: new URL(ADMIN_URL),
    webhookPort: 9300,
    limitMs,
    callLimitMs: BUSY_LIMIT_MS,
    secretCommandLimitMs: limitMs * SECRET_COMMAND_PART,
    // Aborted when the check ends before its limit.
    wait: (ms, signal) => waitWhileFree(ms, { mostMs: Math.max(ms, BUSY_LIMIT_MS), signal }),
    nowMs: () => Date.now(),
    findServiceAccount: findAccount,
    openDatabase: (url) =>
      openDatabase(url, {
        max: DATABASE_CONNECTIONS,
        applicationName: "opsctl doctor",
        connectLimitMs: BUSY_LIMIT_MS,
        closeLimitMs: 100,
      }),
    readStateFile: readStateFileInChild,
    runProgram,
  };
}

/** Limits the processor time of the child, so that it also ends when doctor was killed before it could kill it. */
const WITH_LIMIT = `ulimit -t ${Math.ceil(LIMIT_MS / 1000)}; exec "$@"`;

/** Reads the state file in a child process: SQLite blocks its process, so that not even a time limit would run here. */
async function readStateFileInChild(path: string, signal: AbortSignal): Promise<FileReading | null> {
  const [program = "", ...words] = internalCommand("count-outbox").command;
  const child = [openProgram(program), ...words, path];
  const ended = await runProgram("/bin/sh", ["-c", WITH_LIMIT, "sh", ...child], signal);
  return ended?.status === 0 ? (JSON.parse(ended.stdout) as FileReading) : null;
}

/** The program by a link that also works where the account may not enter its directory, such as a clone of root. */
function openProgram(path: string): string {
  const link = `/proc/${process.pid}/exe`;
  return existsSync(link) ? link : path;
}

function runProgram(program: string, args: readonly string[], signal: AbortSignal): Promise<ProgramEnd> {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "ignore"], signal, killSignal: "SIGKILL" });
  let stdout = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  return new Promise((resolve) => {
    child.once("error", () => resolve(null));
    child.once("close", (status) => resolve({ status, stdout }));
  });
}
