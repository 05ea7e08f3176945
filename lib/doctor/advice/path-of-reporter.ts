import { isRootsFile } from "../../platform/config/command-file.ts";
import { KNOWN_SECRETS } from "../../platform/config/known-secrets.ts";
import { SETTINGS_FILES } from "../../platform/config/known-settings.ts";
import { type Way, wayTo } from "../../platform/files/trusted-path.ts";
import type { PathSlot } from "./known-advice.ts";

/**
 * The account that reports a finding; `directories` may hold anything of that account, `settings` are directories where
 * files of root stand beside files of the account.
 */
export type Reporter = {
  name: string;
  uid: number;
  directories: readonly string[];
  settings: readonly string[];
};

/** The system's directories: who may change files there can become root. */
const SYSTEM = /^\/(?:etc|root|usr|boot|bin|sbin|lib\w*|proc|sys|dev|run|var\/spool)(?:\/|$)/;
/** Those of opsctl among them. */
const OWN_SETTINGS = /^\/etc\/opsctl[\w.-]*(?:\/|$)/;
/** A folder of secrets among the settings; root keeps its own in others. */
const SECRETS_FOLDER = /^(?!root)[\w.-]+$/;
const ACCOUNT_SECRETS = KNOWN_SECRETS.flatMap(({ name, reader }) => (reader === "root" ? [] : [name]));
const UNIT_FILE =
  /^\/(?:etc|run|usr\/lib|lib)\/systemd\/system\/opsctl-webhook\.(?:service|socket)(?:\.d\/[\w.@-]+\.conf)?$/;
const CRON_FILE = "/etc/cron.d/opsctl";

/**
 * Whether a line that root runs may change this path for the account.
 *
 * Shape:     `isPassing` is for a line that lets accounts pass through a directory and nothing more.
 * Behaviour: true for what is in the account's directories, for an environment file and a secret of the account by their
 *            known names in a directory of settings, for what the account owns, and for what does not exist yet in a
 *            directory that the account owns.
 */
export function isPathOf(reporter: Reporter, path: string, isPassing: boolean): boolean {
  if (path.split("/").some((part) => part === ".." || part === ".") || path.includes("//")) return false;
  const { uid, directories, settings } = reporter;
  if (directories.some((one) => isIn(one, path))) return true;
  const directory = settings.filter(isOwnSettings).find((one) => isIn(one, path));
  if (directory !== undefined && isKnownName(path.slice(directory.length + 1), isPassing)) return true;
  try {
    return isOwned(wayTo(path), uid);
  } catch {
    return false;
  }
}

/** Whether a sentence for root may name this path as what the account has or has to have. */
export function mayBeNamed(reporter: Reporter, path: string, slot: PathSlot): boolean {
  if (slot === "unitfile") return UNIT_FILE.test(path);
  if (slot === "cronfile") return path === CRON_FILE;
  return isPathOf(reporter, path, slot === "secretsdir");
}

function isIn(directory: string, path: string): boolean {
  return `${path}/`.startsWith(`${directory}/`);
}

function isOwnSettings(directory: string): boolean {
  return !SYSTEM.test(directory) || OWN_SETTINGS.test(directory);
}

/** The directory itself and its folder of secrets stay root's: the account may only pass through them. */
function isKnownName(name: string, isPassing: boolean): boolean {
  if (["", "secrets", "secrets/"].includes(name)) return isPassing;
  if (SETTINGS_FILES.includes(name)) return !isRootsFile(name);
  const [folder = "", secret = "", ...more] = name.split("/");
  return more.length === 0 && SECRETS_FOLDER.test(folder) && ACCOUNT_SECRETS.includes(secret);
}

/** What does not exist belongs to whom the last directory on the way belongs. */
function isOwned({ steps, end }: Way, uid: number): boolean {
  return (end ?? steps.at(-1))?.uid === uid;
}
