/**
 * A line that is being typed without being shown.
 *
 * Shape: `end` says why it ended: `line` (Enter), `nothing` (Ctrl-D), `interrupt` (Ctrl-C, Ctrl-\), null while it goes
 *        on.
 */
export type HiddenLine = { bytes: readonly number[]; end: "line" | "nothing" | "interrupt" | null };

/** A line of which nothing was typed yet. */
export const EMPTY_LINE: HiddenLine = { bytes: [], end: null };

const CTRL_C = 0x03;
const CTRL_D = 0x04;
const BACKSPACE = 0x08;
const LINE_FEED = 0x0a;
const RETURN = 0x0d;
const CTRL_U = 0x15;
const CTRL_W = 0x17;
const CTRL_Z = 0x1a;
const CTRL_BACKSLASH = 0x1c;
const DELETE = 0x7f;

/**
 * The line after more keys.
 *
 * Behaviour: the terminal edits nothing for a line that is not shown, so its keys are known here: Backspace takes a
 *            character, Ctrl-U and Ctrl-W all of them, Ctrl-Z does nothing: a stopped program would leave a terminal
 *            that shows nothing. What comes in one piece behind Enter belongs to the same paste, and stays with the
 *            line, which then has more than one.
 */
export function typed(line: HiddenLine, keys: Uint8Array): HiddenLine {
  let bytes = [...line.bytes];
  for (const [at, key] of keys.entries()) {
    if (key === CTRL_C || key === CTRL_BACKSLASH) return { bytes: [], end: "interrupt" };
    if (key === RETURN || key === LINE_FEED)
      return { bytes: [...bytes, ...pastedBehind(keys, at)], end: "line" };
    if (key === CTRL_D && bytes.length === 0) return { bytes, end: "nothing" };
    if (key === DELETE || key === BACKSPACE) bytes = withoutLast(bytes);
    else if (key === CTRL_U || key === CTRL_W) bytes = [];
    else if (key !== CTRL_D && key !== CTRL_Z) bytes.push(key);
  }
  return { bytes, end: null };
}

function pastedBehind(keys: Uint8Array, at: number): number[] {
  const rest = [...keys.subarray(at)];
  return rest.every((key) => key === RETURN || key === LINE_FEED) ? [] : rest;
}

/** Without its last character, which in UTF-8 may have several bytes. */
function withoutLast(bytes: readonly number[]): number[] {
  let length = bytes.length - 1;
  while (length > 0 && ((bytes[length] as number) & 0xc0) === 0x80) length -= 1;
  return bytes.slice(0, Math.max(0, length));
}
