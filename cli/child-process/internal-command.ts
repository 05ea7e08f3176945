import { INTERNAL } from "./internal-word.ts";
import { selfCommand } from "./self-command.ts";

/** What such a child can be told to do; see `run-internal.ts`. */
export type InternalWord = "write-metrics" | "read-last-run" | "count-outbox" | "secret-facts" | "doctor";

/** Behind the commands for doctor: a person named them. */
export const NAMED = "named";

/** How the child is started: its environment has only variables of the runtime, no secrets. */
export type InternalCommand = { command: readonly string[]; env: Record<string, string> };

/** The command line for one of these words; the path comes after it. */
export function internalCommand(word: InternalWord): InternalCommand {
  return { command: [...selfCommand(), INTERNAL, word], env: { DENO_NO_UPDATE_CHECK: "1" } };
}
