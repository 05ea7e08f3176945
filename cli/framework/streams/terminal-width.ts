import process from "node:process";
import type { Environment } from "../../../lib/platform/secrets/adapter.ts";
import { isTerminal } from "./output.ts";

const STDOUT = 1;

/**
 * How many columns a table on standard output may take; null where it goes to a file or a pipe.
 *
 * Behaviour: `COLUMNS` wins over what the terminal says, as for other tools.
 */
export async function terminalWidth({ COLUMNS }: Environment): Promise<number | null> {
  if (COLUMNS !== undefined && /^[1-9][0-9]{0,4}$/.test(COLUMNS)) return Number(COLUMNS);
  if (!(await isTerminal(STDOUT))) return null;
  return process.stdout.columns || null;
}
