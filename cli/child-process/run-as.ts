import { asAccount } from "../../lib/platform/account/account.ts";
import { firstProgram, type ServiceAccount } from "../../lib/platform/account/service-account.ts";
import { OpsError } from "../../lib/platform/errors.ts";
import type { Environment } from "../../lib/platform/secrets/adapter.ts";
import { ROOT_SECRETS } from "../../lib/platform/secrets/file.ts";

/** A program with its arguments and environment. */
export type Start = { program: string; args: string[]; env: Record<string, string> };

const SETPRIV = ["/usr/bin/setpriv", "/bin/setpriv"];
/** With one of these Bun would run another file first, or be the interpreter itself. */
const ENGINE_SWITCH = /^BUN_(?:OPTIONS|BE_BUN)$/;

/** How setpriv ends when it could not do what it was asked for, or could not start the program. */
export const SETPRIV_FAILED: readonly number[] = [126, 127];

/**
 * How to start `command` as an account, for a process that is root: without a way back to any privilege.
 *
 * Behaviour: as `asAccount` has it, and `setpriv` is looked for where only root puts programs, not in PATH. The child
 *            gets `endSignal` when the process that started it ends, however that ended.
 * Shape:     `env` without what would turn this program into an interpreter and without root's own secrets, which the
 *            account could read there, with the account's own home and name.
 * Errors:    ACCOUNT_UNAVAILABLE where this host has no setpriv.
 * Source:    setpriv(1), util-linux 2.38.
 */
export function startAs(
  account: ServiceAccount,
  command: readonly string[],
  { env, endSignal }: { env: Environment; endSignal: "TERM" | "KILL" },
): Start {
  const program = firstProgram(SETPRIV);
  if (program === null) throw cannotBecome(account, `this host has no ${SETPRIV[0]}`, "Install util-linux");
  const [, ...words] = asAccount(account, command);
  return { program, args: [`--pdeathsig=${endSignal}`, ...words], env: environmentOf(account, env) };
}

/** The failure to become an account; `way` is what else the person may do about it. */
export function cannotBecome(account: ServiceAccount, reason: string, way: string): OpsError {
  return new OpsError({
    code: "ACCOUNT_UNAVAILABLE",
    message: `Cannot become the account ${account.name}, to which the command belongs: ${reason}`,
    hint: `${way}; or add --as-is, which keeps root's privileges`,
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
