import { proseLines } from "./prose.ts";
import type { Screen } from "./screen.ts";

/** The width of what goes to a file or a pipe. */
const UNLIMITED_WIDTH = 100;

/** A next step for people on indented lines; a command at its end is never broken, so that it can be copied whole. */
export function stepLines(step: string, { width, clean }: Pick<Screen, "width" | "clean">): string[] {
  return proseLines(`  ${step}`, { width: width ?? UNLIMITED_WIDTH, clean }, { indent: "  " });
}
