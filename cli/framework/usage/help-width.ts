import process from "node:process";

const STDOUT = 1;
const STDERR = 2;
/** In a file or a pipe, where help is the same everywhere. */
const USUAL = 80;
/** Longer lines are hard to read. */
const WIDEST = 100;
const NARROWEST = 40;

/**
 * How many columns help takes: those of the terminal, within limits; `COLUMNS` wins. A usage inside an error is written
 * to standard error.
 *
 * Behaviour: nothing is asked where no terminal has said in `TERM` what it is: loading what asks takes as long as the
 *            rest of help.
 */
export async function helpWidth(
  { COLUMNS = "", TERM = "" }: Readonly<Record<string, string | undefined>>,
  to: "stdout" | "stderr" = "stdout",
): Promise<number> {
  const isGiven = /^[1-9][0-9]{0,4}$/.test(COLUMNS);
  const columns = isGiven ? Number(COLUMNS) : TERM === "" ? null : await terminalColumns(to);
  return columns === null ? USUAL : Math.min(WIDEST, Math.max(NARROWEST, columns));
}

async function terminalColumns(to: "stdout" | "stderr"): Promise<number | null> {
  const { isatty } = await import("node:tty");
  return isatty(to === "stdout" ? STDOUT : STDERR) ? process[to].columns || null : null;
}
