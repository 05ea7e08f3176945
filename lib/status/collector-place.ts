import { isSetUp } from "../host/set-up.ts";
import { loadSettings } from "../platform/config/load.ts";
import { readCommandSettings } from "../platform/config/settings-file.ts";
import { OpsError } from "../platform/errors.ts";
import type { Environment } from "../platform/secrets/adapter.ts";

/**
 * Where the collector writes.
 *
 * Shape: `isSetUp` as the shared rule says without its file; `unreadable` are settings that this account may not read
 *        or that are wrong, with the error's code.
 */
export type CollectorPlace =
  | { status: "found"; textfileDir: string; isSetUp: boolean }
  | { status: "unreadable"; code: string };

/**
 * Finds it in the collector's settings, which belong to root.
 *
 * Errors: none thrown for settings that cannot be used.
 */
export async function findCollector(env: Environment): Promise<CollectorPlace> {
  try {
    const settings = readCommandSettings("collect-metrics", env);
    const wanted = { optional: ["TEXTFILE_DIR"] } as const;
    const { TEXTFILE_DIR: textfileDir } = await loadSettings("collect-metrics", wanted, settings.env);
    const isThere = isSetUp("collector", settings.env);
    return { status: "found", textfileDir, isSetUp: isThere };
  } catch (error) {
    if (error instanceof OpsError) return { status: "unreadable", code: error.code };
    throw error;
  }
}
