import { asAccount } from "../../lib/platform/account/account.ts";
import { firstProgram, type ServiceAccount } from "../../lib/platform/account/service-account.ts";
import { OpsError } from "../../lib/platform/errors.ts";
import type { Environment } from "../../lib/platform/secrets/adapter.ts";
import { ROOT_SECRETS } from "../../lib/platform/secrets/file.ts";

/** A program with its arguments and environment. */
export type Start = { program: string; args: string[]; env: Record<string, string> };

const SETPRIV = ["/usr/bin/setpriv", "/bin/setpriv"];
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
 *            that turn this program into an interpreter.
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

/** The error when an account cannot be taken on; `way` is what the person can do besides `--as-is`. */
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
