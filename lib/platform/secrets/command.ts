import { realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute } from "node:path";
import process from "node:process";
import { OpsError } from "../errors.ts";
import { directoryFault, WRITABLE_BY_OTHERS } from "../files/directory-fault.ts";
import { isRoot } from "../privileges.ts";
import { runProgram } from "../run-program.ts";

const MAX_BYTES = 64 * 1024;

/**
 * What the secret command prints for one name.
 *
 * Behaviour: calls the executable with the name as its only argument, with `env` over the environment of this process,
 *            without a shell, and drops its standard error. When it takes too long or prints too much, it is killed
 *            with everything that it started. Root runs nothing that another account could have written or put there.
 * Errors:    SECRET_COMMAND_FAILED, SECRET_COMMAND_UNTRUSTED.
 */
export async function runSecretCommand(
  name: string,
  command: string,
  { limitMs, env }: { limitMs: number; env: Readonly<Record<string, string | undefined>> },
): Promise<string> {
  if (!isAbsolute(command))
    throw failed(name, "OPSCTL_SECRETS_COMMAND is not the absolute path of one executable");
  const fault = isRoot() ? programFault(name, command) : null;
  if (fault !== null)
    throw new OpsError({
      code: "SECRET_COMMAND_UNTRUSTED",
      message: `Cannot read secret ${name} from OPSCTL_SECRETS_COMMAND: root did not run ${command}: ${fault}`,
      hint: "Root runs an executable of root's in directories of root's; or run the command as the account that owns it",
    });
  const { end, stdout } = await runProgram(command, [name], {
    ...{ env: { ...process.env, ...env }, maxBytes: MAX_BYTES },
    signal: AbortSignal.timeout(limitMs),
  });
  if (end.status === "unstarted") throw failed(name, `it cannot be started: ${end.code}`);
  if (end.status === "late") throw failed(name, `it did not answer within ${limitMs / 1000} s`);
  if (end.status !== "ended") throw failed(name, `it printed more than ${MAX_BYTES} bytes`);
  const { exitCode, signal } = end;
  if (exitCode === null) throw failed(name, `it was ended by ${signal}`);
  if (exitCode !== 0) throw failed(name, `it ended with status ${exitCode}`);
  return stdout.toString();
}

function programFault(name: string, command: string): string | null {
  try {
    const { uid, mode } = statSync(command);
    if (uid !== 0 || (mode & WRITABLE_BY_OTHERS) !== 0) return "another account may write to it";
    return directoryFault(dirname(command)) ?? directoryFault(dirname(realpathSync(command)));
  } catch (error) {
    throw failed(name, `it cannot be looked at: ${(error as NodeJS.ErrnoException).code}`);
  }
}

function failed(name: string, reason: string): OpsError {
  return new OpsError({
    code: "SECRET_COMMAND_FAILED",
    message: `Cannot read secret ${name} from OPSCTL_SECRETS_COMMAND: ${reason}`,
    hint: `Run the command by hand, as the account that runs opsctl, with the one argument ${name}; for a secret it does not have it must print nothing and end with 0`,
  });
}
