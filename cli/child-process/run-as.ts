import { asAccount } from "../../lib/platform/account/account.ts";
import { keepDescriptors } from "../../lib/platform/account/keep-descriptors.ts";
import { firstProgram, type ServiceAccount } from "../../lib/platform/account/service-account.ts";
import { OpsError } from "../../lib/platform/errors.ts";
import { runtimeName } from "../../lib/platform/runtime.ts";
import type { Environment } from "../../lib/platform/secrets/adapter.ts";
import { ROOT_SECRETS } from "../../lib/platform/secrets/file.ts";
import { guardCapability } from "./guard-capability.ts";

/** A program with its arguments and environment. */
export type Start = { program: string; args: string[]; env: Record<string, string> };

/**
 * How a process is started.
 *
 * Shape: `isClosed` for one that gets a secret which other processes of the account must not have.
 */
export type StartOptions = { env: Environment; endSignal: "TERM" | "KILL"; isClosed?: boolean };

const SETPRIV = ["/usr/bin/setpriv", "/bin/setpriv"];
const ENV = ["/usr/bin/env", "/bin/env"];
/** A home that does not exist, so that no one can put anything into it; the name is Debian's. */
const NO_HOME = "/nonexistent";
/** With one of these variables Bun would run another file first, or act as the interpreter itself. */
const ENGINE_SWITCH = /^BUN_(?:OPTIONS|BE_BUN)$/;

/** The exit statuses of setpriv when it could not change the account or start the program. */
export const SETPRIV_FAILED: readonly number[] = [126, 127];

/**
 * How a process that is root starts `command` as an account, without a way back to any privilege.
 *
 * Behaviour: drops privileges as `asAccount` does. `setpriv` is looked for where only root puts programs, not in PATH.
 *            The child gets `endSignal` when the process that started it ends, for whatever reason. Its environment has
 *            the account's home and name, and neither root's secrets, which the account could read there, nor variables
 *            that turn this program into an interpreter. A closed one keeps a capability that the account's other
 *            processes do not have, so that the kernel keeps them out of it, where this host has one to give; and no
 *            home, in which a runtime would find what the account has put there. No descriptor of this process above
 *            standard error reaches it.
 * Errors:    ACCOUNT_UNAVAILABLE where this host has no setpriv, or a descriptor cannot be kept back.
 * Source:    setpriv(1), util-linux 2.38.
 */
export function startAs(
  account: ServiceAccount,
  command: readonly string[],
  { env, endSignal, isClosed = false }: StartOptions,
): Start {
  const program = firstProgram(SETPRIV);
  if (program === null) throw cannotBecome(account, `this host has no ${SETPRIV[0]}`, "Install util-linux");
  const [, ...words] = isClosed
    ? asAccount(account, withoutDebugger(command), guardCapability())
    : asAccount(account, command);
  keepDescriptors();
  const home = isClosed ? NO_HOME : account.home;
  return {
    program,
    args: [`--pdeathsig=${endSignal}`, ...words],
    env: environmentOf({ ...account, home }, env),
  };
}

/** Deno opens its debugger when SIGUSR1 comes, which the account's other processes may send. */
function withoutDebugger(command: readonly string[]): readonly string[] {
  const env = firstProgram(ENV);
  return runtimeName() === "deno" && env !== null ? [env, "--block-signal=USR1", ...command] : command;
}

/** The error when an account cannot be taken on; `hint` is what the person can do. */
export function cannotBecome(account: ServiceAccount, reason: string, hint: string): OpsError {
  return new OpsError({
    code: "ACCOUNT_UNAVAILABLE",
    message: `Cannot become the account ${account.name}: ${reason}`,
    hint,
  });
}

function environmentOf({ name, home }: ServiceAccount, env: Environment): Record<string, string> {
  const kept = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && isForAccount(entry[0]),
  );
  return { ...Object.fromEntries(kept), HOME: home, USER: name, LOGNAME: name };
}

function isForAccount(name: string): boolean {
  return !ENGINE_SWITCH.test(name) && !ROOT_SECRETS.includes(name);
}
