import { INTERNAL } from "./internal-word.ts";
import { selfCommand } from "./self-command.ts";

/** What opsctl can tell a child process of its own to do; see `run-internal.ts`. */
export type InternalWord = "write-metrics" | "read-last-run" | "count-outbox" | "secret-facts" | "doctor";

/** The word behind the commands of `internal doctor` which says that a person named them. */
export const NAMED = "named";

/**
 * How the child is started.
 *
 * Shape: `env` has variables of the runtime alone, no secrets; the child of `doctor` gets the environment of its command
 *        instead, because it loads that command's settings.
 */
export type InternalCommand = { command: readonly string[]; env: Record<string, string> };

/** The command line for one of these words; the path comes after it. */
export function internalCommand(word: InternalWord): InternalCommand {
  return { command: [...selfCommand(), INTERNAL, word], env: { DENO_NO_UPDATE_CHECK: "1" } };
}
