import { existsSync, readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { OpsError } from "./errors.ts";
import { runProgram } from "./run-program.ts";
import { ROOT_SECRETS } from "./secrets/root-secrets.ts";

/** The account of the service, as `make install` makes it. */
export const SERVICE_ACCOUNT = "opsctl";

/** An account of this host that is not root; `groups` are the numbers of all its groups. */
export type Account = { name: string; uid: number; gid: number; home: string; groups: readonly number[] };

const ROOT = 0;
const PASSWD = "/etc/passwd";
/** A container may have no such file; one that is there and cannot be read is no reason to stay root. */
const textOf = (path: string) => (existsSync(path) ? readFileSync(path, "utf8") : "");
/** The group of an account without one: nogroup, the kernel's number for what it cannot map. */
const NO_GROUP = 65_534;
/** `getent` waits for minutes for a directory service that does not answer. */
const GETENT_LIMIT_MS = 5_000;
/** A host whose accounts are all in its files: starting getent there takes a third of the start of a command. */
const FILES_ALONE = /^\s*passwd\s*:(?:\s+(?:files|systemd|compat))+\s*(?:#.*)?$/m;

let hasDropped = false;

/** Whether this process is root. */
export function isRoot(): boolean {
  return process.geteuid?.() === ROOT;
}

/** Whether root started this process, which has become another account since. */
export function wasRoot(): boolean {
  return hasDropped;
}

/** The accounts whose files and directories this process relies on: root and its own. */
export function trustedUids(): readonly number[] {
  return [...new Set([ROOT, process.geteuid?.() ?? ROOT])];
}

/**
 * The service account of this host, by /etc/passwd, else by `getent`; null where there is none, or that name is root.
 *
 * Errors: ACCOUNT_UNAVAILABLE when `getent` fails or takes too long, and for an account with root's group.
 */
export async function findServiceAccount(limitMs = GETENT_LIMIT_MS): Promise<Account | null> {
  const found =
    accountIn(textOf(PASSWD), SERVICE_ACCOUNT) ?? accountIn(await getent(limitMs), SERVICE_ACCOUNT);
  if (found === null || found.uid === ROOT) return null;
  if (found.gid === ROOT) throw unavailable("its group is root's own, number 0", GIVE_GROUP);
  return found;
}

/** The account with this number by /etc/passwd; without a line there it has no group of its own. */
export function accountOf(uid: number): Account {
  const unknown = { name: `uid ${uid}`, uid, gid: NO_GROUP, home: "/", groups: [NO_GROUP] };
  return accountIn(textOf(PASSWD), uid) ?? unknown;
}

/**
 * Makes this process an account for good: all its threads, with the account's groups and without any capability.
 *
 * Behaviour: root calls it before it opens the first file that another account can write. Other processes of the account
 *            cannot read memory, environment and open files of this one: the kernel closes a process whose account
 *            changes. Root's own secrets leave the environment, so that no program started from here has them. The account
 *            can still end the process by a signal: no memory of it gets into a core dump.
 * Errors:    ACCOUNT_UNAVAILABLE where the runtime or the kernel does not allow it, or root's rights stay.
 * Source:    credentials(7); prctl(2), PR_SET_DUMPABLE; capabilities(7), "Effect of user ID changes"; core(5).
 */
export function becomeAccount({ name, uid, gid, home, groups }: Account): void {
  const { setgroups } = process as { setgroups?: typeof process.setgroups };
  if (setgroups === undefined) throw unavailable("this runtime cannot change its groups", WITH_RUNUSER, name);
  keepMemoryOutOfCores();
  try {
    process.chdir("/");
    setgroups([...groups]);
    process.setgid?.(gid);
    process.setuid?.(uid);
  } catch (error) {
    const { code = "an unknown error", syscall = "the change" } = error as NodeJS.ErrnoException;
    throw unavailable(`${syscall} gave ${code}: ${NO_RIGHT}`, IN_CONTAINER, name);
  }
  if (!hasOnly(uid, gid)) throw unavailable("root's rights stayed with this process", WITH_RUNUSER, name);
  hasDropped = true;
  for (const secret of ROOT_SECRETS) delete process.env[secret];
  Object.assign(process.env, { HOME: home, USER: name, LOGNAME: name });
}

/**
 * Root's secrets are in this process's memory. Where the host keeps dumps of such processes (fs.suid_dumpable is 2),
 * systemd-coredump gives that of one which root has started to the account that it has become.
 *
 * Source: CVE-2025-4598; systemd before 258 does not ask the kernel whether the account may read the process.
 */
function keepMemoryOutOfCores(): void {
  try {
    writeFileSync("/proc/self/coredump_filter", "0");
  } catch {
    // A kernel that writes no core dumps.
  }
}

const GIVE_GROUP = "groupadd --system opsctl; usermod -g opsctl opsctl";
const WITH_RUNUSER = "Start it as the account: runuser -u opsctl -- <the same command>";
const NO_RIGHT =
  "this process is root without CAP_SETUID and CAP_SETGID, or of a user namespace without that account";
const IN_CONTAINER =
  "Start the command as opsctl there (--user opsctl of docker run or exec), or give the container both " +
  "capabilities (--cap-add SETUID --cap-add SETGID) and the account (/etc/subuid)";

/** Whether this process has these numbers alone, and no way back to root's. */
function hasOnly(uid: number, gid: number): boolean {
  if (process.getuid?.() !== uid || process.getgid?.() !== gid) return false;
  if (process.getgroups?.().includes(ROOT)) return false;
  try {
    process.setuid?.(ROOT);
    return false;
  } catch {
    return true;
  }
}

/** An account by its name or number in passwd(5), with its groups of /etc/group but root's. */
function accountIn(lines: string, wanted: string | number): Account | null {
  const fields = lines.split("\n").map((line) => line.split(":"));
  const found = fields.find(([name, , uid]) => name === wanted || uid === String(wanted));
  if (found === undefined) return null;
  const [name = "", , uid = "", gid = "", , home = "/"] = found;
  if (!/^\d+$/.test(uid) || !/^\d+$/.test(gid))
    throw unavailable("its line has no numbers", "getent passwd opsctl");
  const groups = [gid];
  for (const line of textOf("/etc/group").split("\n")) {
    const [, , group = "", members = ""] = line.split(":");
    if (/^[1-9]\d*$/.test(group) && members.split(",").includes(name)) groups.push(group);
  }
  return { name, uid: Number(uid), gid: Number(gid), home, groups: [...new Set(groups.map(Number))] };
}

/** What the directory services of this host say; nothing where it has none. */
async function getent(limitMs: number): Promise<string> {
  if (FILES_ALONE.test(textOf("/etc/nsswitch.conf"))) return "";
  const limits = { env: {}, signal: AbortSignal.timeout(limitMs) };
  const { end, stdout } = await runProgram("/usr/bin/getent", ["passwd", SERVICE_ACCOUNT], limits);
  if (end.status === "ended" && end.exitCode === 0) return stdout.toString();
  // 2: there is no such account. A host without getent has no directory services.
  if (end.status === "unstarted" || (end.status === "ended" && end.exitCode === 2)) return "";
  throw unavailable(
    `getent ${end.status === "late" ? `did not end within ${limitMs / 1000} s` : "failed"}`,
    "See that the directory services of /etc/nsswitch.conf answer: getent passwd opsctl",
  );
}

function unavailable(reason: string, hint: string, name = SERVICE_ACCOUNT): OpsError {
  return new OpsError({
    code: "ACCOUNT_UNAVAILABLE",
    message: `Cannot become the account ${name}: ${reason}`,
    hint,
  });
}
