import { wrapText } from "./wrap.ts";

/** The width of what goes to a file or a pipe. */
const UNLIMITED_WIDTH = 100;

/**
 * A next step for people on indented lines; a command at its end is never broken, so that it can be copied whole.
 *
 * Units: `width` is in columns of the terminal, null where there is none.
 */
export function stepLines(step: string, width: number | null): string[] {
  const columns = width ?? UNLIMITED_WIDTH;
  const [, words, command] = /^(.*:) (opsctl .*)$/.exec(step) ?? [];
  if (words === undefined) return wrapText(`  ${step}`, columns, "  ");
  return step.length + 2 <= columns ? [`  ${step}`] : [`  ${words}`, `    ${command}`];
}
