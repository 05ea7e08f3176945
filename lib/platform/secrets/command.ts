import { isAbsolute } from "node:path";
import process from "node:process";
import { OpsError } from "../errors.ts";
import { type Foreign, findForeign } from "../files/trusted-path.ts";
import { isRoot } from "../privileges.ts";
import { type ProgramEnd, runProgram } from "../run-program.ts";
import { MAX_SECRET_BYTES } from "./file.ts";

/**
 * Runs the secret command for one name and returns what it prints.
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
): Promise<Uint8Array> {
  if (!isAbsolute(command))
    throw commandFailed(name, "OPSCTL_SECRETS_COMMAND is not the absolute path of one executable");
  if (isRoot()) refuseForeign(name, command);
  const { end, stdout } = await runProgram(command, [name], {
    ...{ env: { ...process.env, ...env }, maxBytes: MAX_SECRET_BYTES },
    signal: AbortSignal.timeout(limitMs),
  });
  const fault = faultOf(end, limitMs);
  if (fault !== null) throw commandFailed(name, fault);
  return stdout;
}

/** How the command failed; null where it ended well. */
function faultOf(end: ProgramEnd, limitMs: number): string | null {
  if (end.status === "unstarted") return `it cannot be started: ${end.code}`;
  if (end.status === "late") return `it did not answer within ${limitMs / 1000} s`;
  if (end.status !== "ended") return `it printed more than ${MAX_SECRET_BYTES} bytes`;
  const { exitCode: code, signal } = end;
  return code === 0 ? null : endedWith(code, signal);
}

function refuseForeign(name: string, command: string): void {
  const found = lookAt(name, command);
  if (found === null) return;
  throw new OpsError({
    code: "SECRET_COMMAND_UNTRUSTED",
    message: `Cannot read secret ${name} from OPSCTL_SECRETS_COMMAND: root did not run ${command}: ${found.why}`,
    hint: "Root runs an executable of root's in directories of root's; or run the command as the account that owns it",
  });
}

function lookAt(name: string, command: string): Foreign | null {
  try {
    return findForeign(command);
  } catch (error) {
    throw commandFailed(name, `it cannot be looked at: ${(error as NodeJS.ErrnoException).code}`);
  }
}

function endedWith(code: number | null, signal: string | null): string {
  return code === null ? `it was ended by ${signal}` : `it ended with status ${code}`;
}

function commandFailed(name: string, reason: string): OpsError {
  return new OpsError({
    code: "SECRET_COMMAND_FAILED",
    message: `Cannot read secret ${name} from OPSCTL_SECRETS_COMMAND: ${reason}`,
    hint: `Run the command by hand, as the account that runs opsctl, with the one argument ${name}; for a secret it does not have it must print nothing and end with 0`,
  });
}
