import type { LogFit } from "../../../lib/platform/log/log.ts";
import { displayWidth } from "../../../lib/text/display-width.ts";
import { proseLines } from "../../../lib/text/terminal/prose.ts";
import { wrapText } from "../../../lib/text/wrap.ts";

/** Below this nearly every word would have a line of its own. */
const NARROWEST = 40;
/** A command within a message. */
const COMMAND = /\bopsctl secret set [A-Z_]+(?: --root)?/g;
/** A blank at which nothing breaks a line; none of it is written. */
const NO_BREAK = "\u00A0";
/** A log is clean before it is broken. */
const clean = (text: string) => text;

/**
 * Breaks the lines of a log between words at the width that `columns` returns, asked for each line, as a window
 * changes.
 *
 * Behaviour: a command at the end of an advice, or of a message's line, stays whole, so that it can be copied. A
 *            terminal that does not say its width, or is hardly one, breaks the lines itself.
 */
export function logFit(columns: () => number | undefined): LogFit {
  const width = () => {
    const now = columns() ?? 0;
    return now >= NARROWEST ? now : null;
  };
  return {
    words(line, indent) {
      const now = width();
      if (now === null) return [line];
      const held = line.replace(COMMAND, (command) => command.replaceAll(" ", NO_BREAK));
      return wrapText(held, now, indent, displayWidth).map((one) => one.replaceAll(NO_BREAK, " "));
    },
    advice: (head, advice) =>
      proseLines(head + advice, { width: width(), clean }, { indent: " ".repeat(head.length) }),
  };
}
