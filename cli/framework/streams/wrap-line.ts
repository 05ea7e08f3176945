import type { WrapLine } from "../../../lib/platform/log/log.ts";
import { proseLines } from "../../../lib/text/terminal/prose.ts";

/** Below this nearly every word would have a line of its own. */
const NARROWEST = 40;
/** A log is clean before its lines are wrapped. */
const clean = (text: string) => text;

/**
 * Wraps lines at the width that `columns` returns, asked for each line, as a window changes.
 *
 * Behaviour: a terminal that does not say its width, or is hardly one, breaks the lines itself.
 */
export function lineWrapper(columns: () => number | undefined): WrapLine {
  return (line, indent) => {
    const now = columns() ?? 0;
    return proseLines(line, { width: now >= NARROWEST ? now : null, clean }, { indent });
  };
}
