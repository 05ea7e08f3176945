import process from "node:process";
import type { ServiceAccount } from "../../lib/platform/account/service-account.ts";
import { runtimeName } from "../../lib/platform/runtime.ts";
import { INTERNAL } from "./internal-word.ts";
import { selfCommand } from "./self-command.ts";

/** What opsctl can tell a child process of its own to do; see `run-internal.ts`. */
export type InternalWord = "write-metrics" | "read-last-run" | "count-outbox" | "secret-facts" | "doctor";

/**
 * The last word of `internal doctor`, as JSON.
 *
 * Shape: `isNamed` says that a person named the commands; `limitMs` is how long each check may take; `account` is the
 *        service account as root has found it.
 */
export type DoctorOrder = { isNamed: boolean; limitMs: number; account: ServiceAccount };

/**
 * How the child is started.
 *
 * Shape: `env` has variables of the runtime alone, no secrets; the child of `doctor` gets the environment of its
 *        command instead, because it loads that command's settings.
 */
export type InternalCommand = { command: readonly string[]; env: Record<string, string> };

/** The command line for one of these words; the path comes after it. */
export function internalCommand(word: InternalWord): InternalCommand {
  return { command: [...selfCommand(), INTERNAL, word], env: { DENO_NO_UPDATE_CHECK: "1", ...compiled() } };
}

/** Where Deno keeps what it made of the sources: without it the child makes all of it anew, in three times the time. */
function compiled(): Record<string, string> {
  const { DENO_DIR = "" } = runtimeName() === "deno" ? process.env : {};
  return DENO_DIR === "" ? {} : { DENO_DIR };
}
