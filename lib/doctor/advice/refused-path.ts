import { dirname } from "node:path";
import { envDirOption } from "../../platform/config/env-files/with-directories.ts";
import { wayTo } from "../../platform/files/trusted-path.ts";
import { shellWord } from "../../platform/shell-word.ts";
import { refusalOf } from "./path-of-reporter.ts";
import type { Reporter } from "./reporter.ts";

/** What makes a place for a setting, and how that setting names the place. */
const MAKES: readonly [line: RegExp, variable: string, placeOf: (path: string) => string][] = [
  [/install -D .* \/dev\/stdin \S+$/, "OPSCTL_SECRETS_DIR", dirname],
  [/^install -D .* \/dev\/null \S+\/webhook\.env /, "OPSCTL_WEBHOOK_ENV_FILE", (path) => path],
  [/^install -d .* -m 0700 \S+$/, "OPSCTL_STATE_DIR", (path) => path],
  [/^install -d .* -m 0755 \S+$/, "OPSCTL_LOG_DIR", (path) => path],
];

/**
 * What root is told instead of a line on a path that is not the account's: what is wrong, and what to do.
 *
 * Behaviour: a free place may be what the operator chose, and may be what the account made up, whose own file names it:
 *            a line there proves nothing. Root says which, by naming it in the environment of `opsctl doctor`. A place
 *            of the system is never one, and what is there already has an owner: a copied line must not change either.
 */
export function refusedPath(path: string, line: string, reporter: Reporter): string {
  const refusal = refusalOf(path);
  const places = `such a place is /var/lib/opsctl, /var/log/opsctl or one of that name on another disk, as /srv/opsctl`;
  const wrong = `Correct the setting: ${path} is not for ${reporter.name}; ${places}`;
  if (refusal === "system") return wrong;
  const [, variable, placeOf] = MAKES.find(([pattern]) => pattern.test(line)) ?? [];
  if (refusal === "taken" || variable === undefined || placeOf === undefined)
    return `${wrong}. Where that path is meant, look at it (ls -ld ${whatIsThere(path)}) and put it right by hand`;
  const place = placeOf(path);
  const { name, envDir } = reporter;
  const again = lookAgain(reporter, { [variable]: place });
  const named = `grep -n ${place} ${shellWord(envDir)}/*.env`;
  return `${wrong}. The file that names it (${named}) is one that ${name} can change, so ${name} itself may have written that: only where a person set it for opsctl, this tells the command: ${again}`;
}

/**
 * What is said instead of a line below a directory to which the account, or another one but root, may be able to write.
 *
 * Behaviour: root's line could be led elsewhere where one may, and the account's own would be refused where it may not.
 */
export function doubtfulDirectory(directory: string, reporter: Reporter): string {
  const place = shellWord(directory);
  return `Look first who but root may write to ${place} (ls -ld ${place}; id ${reporter.name}; getfacl ${place}): while anybody may, no line of root's is safe below it. Take that away, or name another directory, and look again: ${lookAgain(reporter)}`;
}

/** The doctor that looks where this one does, and at what `named` has besides. */
function lookAgain({ secretsDir, envDir }: Reporter, named: Record<string, string> = {}): string {
  const variables = Object.entries({ ...(secretsDir && { OPSCTL_SECRETS_DIR: secretsDir }), ...named });
  const words = variables.map(([variable, value]) => `${variable}=${shellWord(value)} `);
  return `sudo ${words.join("")}opsctl doctor${envDirOption(envDir)}`;
}

/** The path, or the last directory on its way where nothing is there. */
function whatIsThere(path: string): string {
  try {
    const { steps, end } = wayTo(path);
    return shellWord((end ?? steps.at(-1))?.path ?? path);
  } catch {
    return path;
  }
}
