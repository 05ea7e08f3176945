import { lstatSync } from "node:fs";
import { join } from "node:path";
import { isRootsFile } from "../../platform/config/env-files/command-file.ts";
import { SETTINGS_FILES } from "../../platform/config/names/known-settings.ts";
import { WRITABLE_BY_OTHERS } from "../../platform/files/modes.ts";
import { untrustedStep, type Way, wayTo } from "../../platform/files/trusted-path.ts";
import { DEFAULT_SECRETS_DIR } from "../../platform/secrets/adapter.ts";
import { pathIn, rootsSettings } from "./chosen-by-root.ts";
import { isFree, isOfSystem } from "./free-place.ts";
import { isNamedAfter, type Refusal, refusalOf } from "./path-of-reporter.ts";

/** Among the settings of opsctl; what begins with `root` is root's own. */
const AMONG_SETTINGS = /^\/etc\/opsctl[\w.-]*(?:\/(?!root)[\w.-]+)+$/;
const ROOT = [0];
const GROUP_ENTERS = 0o010;

/**
 * Why root follows no environment file of the account into a directory of secrets; null where it may.
 *
 * Behaviour: the account may name any directory. Root vouches for the installed one, for what a file names that root
 *            alone can change, and for one that stands in a place of the account's name, or among the settings, and
 *            that root has already opened to the group of the account, or left free. What the collector's file names is
 *            root's own.
 */
export function secretsDirectoryRefusal(
  directory: string,
  { account, envDir }: { account: { name: string; gid: number } | null; envDir: string | null },
): Refusal | null {
  const path = directory.replace(/(?<=.)\/+$/, "");
  if (path === DEFAULT_SECRETS_DIR || chosen(envDir).includes(path)) return null;
  if (account !== null && isGiven(path, account)) return null;
  return refusalOf(path);
}

function chosen(envDir: string | null): string[] {
  if (envDir === null) return [];
  const files = SETTINGS_FILES.filter((name) => !isRootsFile(name));
  return files.flatMap((name) => pathIn(rootsSettings(join(envDir, name)).OPSCTL_SECRETS_DIR));
}

function isGiven(path: string, account: { name: string; gid: number }): boolean {
  if (path.split("/").some((part, at) => part === "." || part === ".." || (part === "" && at > 0)))
    return false;
  const isAmongSettings = AMONG_SETTINGS.test(path);
  if (!isAmongSettings && (isOfSystem(path) || !isNamedAfter(account.name, path))) return false;
  try {
    const way = wayTo(path);
    return (!isAmongSettings && isFree(way)) || isOpened(way, { path, gid: account.gid });
  } catch {
    return false;
  }
}

/** Whether root made this directory for the group of the account; a link could lead to what root made for others. */
function isOpened({ steps, end }: Way, { path, gid }: { path: string; gid: number }): boolean {
  if (end === null || end.path !== path || end.kind !== "directory" || end.uid !== 0) return false;
  if (untrustedStep(steps, ROOT) !== null || (end.mode & WRITABLE_BY_OTHERS) !== 0) return false;
  return gid !== 0 && (end.mode & GROUP_ENTERS) !== 0 && lstatSync(end.path).gid === gid;
}
