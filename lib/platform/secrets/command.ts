import { statSync } from "node:fs";
import { basename, dirname, isAbsolute } from "node:path";
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
  const refusal = (code: string, why: string, hint: string) =>
    new OpsError({ code, message: `Cannot read secret ${name} from OPSCTL_SECRETS_COMMAND: ${why}`, hint });
  const failed = (why: string) => refusal("SECRET_COMMAND_FAILED", why, BY_HAND);
  if (!isAbsolute(command)) throw failed("it is not the absolute path of one executable");
  try {
    const fault = isRoot() ? programFault(command) : null;
    if (fault !== null)
      throw refusal("SECRET_COMMAND_UNTRUSTED", `root did not run ${command}: ${fault}`, OF_ROOT);
  } catch (error) {
    throw error instanceof OpsError ? error : failed(`it cannot be started: ${Object(error).code}`);
  }
  const { end, stdout } = await runProgram(command, [name], {
    ...{ env: { ...process.env, ...env }, maxBytes: MAX_BYTES },
    signal: AbortSignal.timeout(limitMs),
  });
  if (end.status === "unstarted") throw failed(`it cannot be started: ${end.code}`);
  if (end.status === "late") throw failed(`it did not answer within ${limitMs / 1000} s`);
  if (end.status !== "ended") throw failed(`it printed more than ${MAX_BYTES} bytes`);
  if (end.exitCode === null) throw failed(`it was ended by ${end.signal}`);
  if (end.exitCode !== 0) throw failed(`it ended with status ${end.exitCode}`);
  return stdout.toString();
}

const BY_HAND =
  "Run the command by hand, as the account that runs opsctl, with the secret's name as its one argument; for a secret it does " +
  "not have it must print nothing and end with 0";
const OF_ROOT =
  "Root runs an executable of root's in directories of root's; or run the command as the account that owns it";

/**
 * Why another account could have written the program, or could put one there; null where none could.
 *
 * Errors: those of the file system, ENOENT where there is none: then nothing may be started, as one may appear.
 */
function programFault(command: string): string | null {
  const fault = directoryFault(dirname(command), { entry: basename(command) });
  if (fault !== null) return fault.why;
  const { uid, mode } = statSync(command);
  return uid === 0 && (mode & WRITABLE_BY_OTHERS) === 0 ? null : "another account may write to it";
}
