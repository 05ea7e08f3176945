/** The stream that log and progress bar write to: standard error, or a test's list of lines. */
export type TextStream = { write(text: string): unknown; columns?: number | undefined };

/** A bar for long work; a call after `stop` draws nothing. */
export type Progress = {
  /** `n` more items are done. */
  advance(n: number): void;
  /** Sets the number of items. */
  setTotal(total: number): void;
  /** Says in the place of the bar why nothing advances; null shows the bar again. */
  setNote(note: string | null): void;
  /** Wipes the bar from the line. */
  stop(): void;
};

const REDRAW_MS = 100;
const MAX_BAR = 40;

/** The bar on the last line of each stream, so that log lines go above it. */
const bars = new WeakMap<TextStream, { wipe(): void; draw(): void }>();

/**
 * A progress bar on `stream`, or one that does nothing when `enabled` is false (no terminal, or `--json`).
 *
 * Behaviour: one line of plain characters, never wider than the terminal, drawn at most ten times a second; lines
 *            written with `writeLine` go above it. It has no colours, so `NO_COLOR` changes nothing.
 */
export function createProgress(options: {
  stream: TextStream;
  enabled: boolean;
  total?: number;
  now?: () => number;
}): Progress {
  const { stream, enabled, now = () => performance.now() } = options;
  if (!enabled) return { advance() {}, setTotal() {}, setNote() {}, stop() {} };
  let total = options.total ?? 0;
  let done = 0;
  let note: string | null = null;
  let drawn = "";
  let drawnAt = Number.NEGATIVE_INFINITY;
  let stopped = false;

  // Blanks and a carriage return wipe a line on every terminal, also on one without escape codes.
  const wipe = () => {
    if (drawn !== "") stream.write(`\r${" ".repeat(drawn.length)}\r`);
    drawn = "";
  };
  const draw = () => {
    const line = renderLine({ done, total, note }, stream.columns ?? 80);
    stream.write(`\r${line}${" ".repeat(Math.max(0, drawn.length - line.length))}`);
    drawn = line;
    drawnAt = now();
  };
  const drawIfDue = () => {
    if (!stopped && (now() - drawnAt >= REDRAW_MS || done === total)) draw();
  };

  bars.set(stream, { wipe, draw });
  return {
    advance(n) {
      done += n;
      drawIfDue();
    },
    setTotal(n) {
      total = n;
      drawIfDue();
    },
    setNote(text) {
      note = text;
      if (!stopped) draw();
    },
    stop() {
      stopped = true;
      wipe();
      bars.delete(stream);
    },
  };
}

/** Writes a whole line to `stream`, above the progress bar if one is drawn there. */
export function writeLine(stream: TextStream, line: string): void {
  const bar = bars.get(stream);
  bar?.wipe();
  stream.write(`${line}\n`);
  bar?.draw();
}

type Shown = { done: number; total: number; note: string | null };

function renderLine({ done, total, note }: Shown, columns: number): string {
  const count = total > 0 ? ` ${done}/${total}` : ` ${done}`;
  if (note !== null) return `${count.trim()} ${note}`.slice(0, Math.max(0, columns - 1));
  // One column stays free: a full line would wrap and could not be wiped.
  const width = Math.min(MAX_BAR, columns - count.length - 3);
  if (total <= 0 || width < 1) return count.trim().slice(0, Math.max(0, columns - 1));
  const filled = Math.round(width * Math.min(1, done / total));
  return `[${"#".repeat(filled)}${".".repeat(width - filled)}]${count}`;
}
