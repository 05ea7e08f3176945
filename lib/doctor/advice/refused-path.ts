import { dirname } from "node:path";
import { envDirOption } from "../../platform/config/as-root.ts";
import { shellWord } from "../../platform/shell-word.ts";
import { refusalOf } from "./path-of-reporter.ts";
import type { Reporter } from "./reporter.ts";

/** What makes a place for a setting, and how that setting names the place. */
const MAKES: readonly [command: RegExp, variable: string, named: (path: string) => string][] = [
  [/^install -D .* \/dev\/stdin /, "OPSCTL_SECRETS_DIR", dirname],
  [/^install -D .* \/dev\/null \/.*\/webhook\.env$/, "OPSCTL_WEBHOOK_ENV_FILE", (path) => path],
  [/^install -d .*-m 0700 /, "OPSCTL_STATE_DIR", (path) => path],
  [/^install -d .*-m 0755 /, "OPSCTL_LOG_DIR", (path) => path],
];

/**
 * What root is told instead of a command on a path that is not the account's: what is wrong, and what to do.
 *
 * Behaviour: a free place may be what the operator chose, and may be what the account made up; root says which, by naming it
 *            in the environment of `opsctl doctor`. A place of the system is none in any case, and what is there already
 *            belongs to somebody: that is no work for a line that is copied.
 */
export function refusedPath(path: string, command: string, reporter: Reporter): string {
  const refusal = refusalOf(path);
  const places = `such a place is /var/lib/opsctl, /var/log/opsctl or one of that name on another disk, as /srv/opsctl`;
  const wrong = `Correct the setting: ${path} is not for ${reporter.name}; ${places}`;
  if (refusal === "system") return wrong;
  const [, variable, named] = MAKES.find(([pattern]) => pattern.test(command)) ?? [];
  if (refusal === "taken" || variable === undefined || named === undefined)
    return `${wrong}. Where that path is meant, look at it (ls -ld ${path}) and put it right by hand`;
  const place = named(path);
  const { envDir } = reporter;
  const again = `sudo ${variable}=${place} opsctl doctor${envDirOption(envDir)}`;
  return `${wrong}. Where you chose it (grep -n ${place} ${shellWord(envDir)}/*.env), this tells the line: ${again}`;
}
