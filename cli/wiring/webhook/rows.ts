import type { State } from "../../../lib/webhook/state/contract.ts";
import type { CommandContext } from "../../framework/command.ts";
import type { Outcome } from "../../framework/outcome.ts";
import { openState } from "./state.ts";

/** Refuses a command line that names neither a row nor all of them, or both. */
export function oneOrAll(given: ReadonlyMap<string, string>): string | undefined {
  return given.has("row") === given.has("all") ? "either --row or --all is needed" : undefined;
}

/** The rows that a command line means; null means all. */
export function rowsOf(row: string | undefined): number[] | null {
  return row === undefined ? null : [Number(row)];
}

/** So many rows, in words. */
export function rowCount(count: number): string {
  return count === 1 ? "1 row" : `${count} rows`;
}

/**
 * Uses the webhook's state and closes it.
 *
 * Errors: those of `openState`, CONFIG_INVALID.
 */
export async function withState(
  { env, log }: CommandContext,
  applicationName: string,
  use: (state: State) => Promise<Outcome>,
): Promise<Outcome> {
  const { loadStateConfig } = await import("../../../lib/webhook/config.ts");
  const state = await openState(await loadStateConfig(env), log, applicationName);
  try {
    return await use(state);
  } finally {
    await state.close();
  }
}
