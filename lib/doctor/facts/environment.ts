import type { Stats } from "node:fs";
import { dirname, join } from "node:path";
import { type EnvFileFault, readEnvFile } from "../../platform/config/env-file.ts";
import { commandFile } from "../../platform/config/settings-table.ts";
import { fileSystemText } from "../../platform/files/closed-file.ts";
import { WRITABLE_BY_OTHERS } from "../../platform/files/modes.ts";
import { readJudged } from "../../platform/files/regular-file.ts";
import { findForeign, namesOf } from "../../platform/files/trusted-path.ts";
import { isRoot, trustedUids } from "../../platform/privileges.ts";
import type { Environment } from "../../platform/secrets/adapter.ts";
import { registerSecret } from "../../platform/secrets/redact.ts";
import { secretsOf } from "../context/command-facts.ts";
import type { DoctorDependencies } from "../context/dependencies.ts";
import type { CommandName } from "../finding.ts";

/**
 * The environment file of a command; `problem` says why a file that exists could not be read, `isForeign` that another
 * account could have written it, `faults` which of its lines set nothing or something else than they seem to, `repeated`
 * which names it gives two values.
 */
export type EnvironmentFile = {
  command: CommandName;
  path: string;
  stats: Stats | null;
  variables: ReadonlyMap<string, string>;
  faults: readonly EnvFileFault[];
  repeated: readonly string[];
  problem: string | null;
  isForeign: boolean;
};

/** The variables that a command gets: those of its file, then those of this process, which win. */
export type CommandEnvironment = { env: Environment; file: EnvironmentFile };

/**
 * Reads the environment that a command has when cron or systemd starts it.
 *
 * Behaviour: a doctor that is run by hand does not have these variables. A blank variable of this process does not hide
 *            the file's. Secrets in the file are registered, so that they are masked from here on.
 */
export async function readEnvironment(
  command: CommandName,
  dependencies: DoctorDependencies,
): Promise<CommandEnvironment> {
  const file = readEnvironmentFile(
    command,
    join(dependencies.envDir, commandFile(command) ?? `${command}.env`),
  );
  const own = Object.entries(dependencies.env).filter(
    ([, value]) => value !== undefined && value.trim() !== "",
  );
  const env = { ...Object.fromEntries(file.variables), ...Object.fromEntries(own) };
  for (const { name } of secretsOf(command)) {
    for (const value of [file.variables.get(name), dependencies.env[name]]) {
      if (value !== undefined && value.trim() !== "") registerSecret(value);
    }
  }
  return { env: { ...env, OPSCTL_ENV_DIR: dependencies.envDir }, file };
}

/** Reads an environment file of a command, where one is; throws nothing. */
export function readEnvironmentFile(command: CommandName, path: string): EnvironmentFile {
  let stats: Stats | null = null;
  const none = { command, path, variables: new Map(), faults: [], repeated: [] };
  try {
    refuseForeignWay(path);
    const bytes = readJudged(path, (found) => {
      stats = found;
      judge(found);
    });
    const read = readEnvFile(new TextDecoder().decode(bytes));
    return { command, path, stats, ...read, problem: null, isForeign: false };
  } catch (error) {
    return { ...none, stats, problem: problemOf(error), isForeign: error instanceof Foreign };
  }
}

class Refused extends Error {}
class Foreign extends Refused {}

/** Refuses a file in a directory that another account may write to. */
function refuseForeignWay(path: string): void {
  const found = findForeign(dirname(path), { mayBeSticky: true });
  if (found !== null) throw new Foreign(found.why);
}

function judge(stats: Stats): void {
  if (!stats.isFile()) throw new Refused("it is not a regular file");
  const trusted = trustedUids();
  if (!trusted.includes(stats.uid))
    throw new Foreign(`it belongs to ${namesOf([stats.uid])}, expected ${namesOf(trusted)}`);
  // An account that may write to this file could send root's secrets to an address of its own.
  if (isRoot() && (stats.mode & WRITABLE_BY_OTHERS) !== 0)
    throw new Foreign("group or others may write to it");
  if (stats.size > MAX_BYTES) throw new Refused(`it has more than ${MAX_BYTES} bytes`);
}

function problemOf(error: unknown): string | null {
  if (error instanceof Refused) return error.message;
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOENT" ? null : fileSystemText(error);
}

const MAX_BYTES = 1_048_576;
