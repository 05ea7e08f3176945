import type { Stats } from "node:fs";
import { basename, dirname, join } from "node:path";
import { parseEnvFile } from "../../platform/config/env-files/env-file.ts";
import { SETTINGS_FILES } from "../../platform/config/names/known-settings.ts";
import { WRITABLE_BY_OTHERS } from "../../platform/files/modes.ts";
import { readJudged } from "../../platform/files/regular-file.ts";
import { untrustedStep, wayTo } from "../../platform/files/trusted-path.ts";
import type { Environment } from "../../platform/secrets/adapter.ts";

/** Directories for state and logs, for secrets, and for environment files. */
export type ChosenByRoot = { directories: string[]; secrets: string[]; settings: string[] };

const ROOT = [0];
const MAX_BYTES = 1_048_576;
const WEBHOOK_FILE = "webhook.env";

/**
 * The directories that root's own configuration names.
 *
 * Behaviour: that is the environment of this process, which root started, and each environment file of `envDir` that no
 *            account but root can change or exchange. The files of an installation belong to the service account, all
 *            but the collector's: what only they name, root has not chosen.
 */
export function chosenByRoot(env: Environment, envDir: string): ChosenByRoot {
  const sources = [env, ...SETTINGS_FILES.map((name) => rootsSettings(join(envDir, name)))];
  const named = (variable: string) => [...new Set(sources.flatMap((source) => pathIn(source[variable])))];
  const webhookFiles = named("OPSCTL_WEBHOOK_ENV_FILE").filter((path) => basename(path) === WEBHOOK_FILE);
  return {
    directories: [...named("OPSCTL_STATE_DIR"), ...named("OPSCTL_LOG_DIR")],
    secrets: named("OPSCTL_SECRETS_DIR"),
    settings: webhookFiles.map(dirname),
  };
}

/** The settings of an environment file that root alone can change; none of any other file. */
export function rootsSettings(path: string): Environment {
  try {
    if (untrustedStep(wayTo(path).steps, ROOT) !== null) return {};
    return Object.fromEntries(parseEnvFile(new TextDecoder().decode(readJudged(path, judge))));
  } catch {
    return {};
  }
}

function judge(stats: Stats): void {
  const isRoots = stats.isFile() && stats.uid === 0 && (stats.mode & WRITABLE_BY_OTHERS) === 0;
  if (!isRoots || stats.size > MAX_BYTES) throw new Error("not root's alone");
}

/** The path without a slash at its end; nothing for one that is not absolute, or leads elsewhere than it says. */
export function pathIn(text = ""): string[] {
  const path = text.trim().replace(/\/+$/, "");
  const isPlain = path.startsWith("/") && !path.split("/").some((part) => part === "." || part === "..");
  return isPlain && !path.includes("//") ? [path] : [];
}
