/** The stream that log and progress bar write to: standard error, or a test's list of lines. */
export type TextStream = { write(text: string): unknown; columns?: number | undefined };

/** A bar for long work; a note says why nothing advances in place of the bar, until it is null; `stop` wipes both. */
export type Progress = {
  advance(n: number): void;
  setTotal(total: number): void;
  setNote(note: string | null): void;
  stop(): void;
};

const REDRAW_MS = 100;
const MAX_BAR = 40;

/** The bar on the last line of each stream, so that log lines go above it. */
const bars = new WeakMap<TextStream, string>();

/**
 * A progress bar on `stream`, or one that does nothing when `enabled` is false (no terminal, or `--json`): one line of
 * plain characters, never wider than the terminal, drawn at most ten times a second.
 */
export function createProgress(options: {
  stream: TextStream;
  enabled: boolean;
  total?: number;
  now?: () => number;
}): Progress {
  const { stream, enabled, now = () => performance.now() } = options;
  const shown: Shown = { done: 0, total: options.total ?? 0, note: null };
  let drawnAtMs = Number.NEGATIVE_INFINITY;
  if (enabled) bars.set(stream, "");
  const update = (change: Partial<Shown>, isDue = now() - drawnAtMs >= REDRAW_MS) => {
    Object.assign(shown, change);
    if (!bars.has(stream) || !(isDue || shown.done === shown.total)) return;
    drawnAtMs = now();
    draw(stream, renderLine(shown, stream.columns ?? 80));
  };
  return {
    advance: (n) => update({ done: shown.done + n }),
    setTotal: (total) => update({ total }),
    setNote: (note) => update({ note }, true),
    stop() {
      if (bars.get(stream)) draw(stream, "");
      bars.delete(stream);
    },
  };
}

/** Writes a whole line to `stream`, above the progress bar if one is drawn there. */
export function writeLine(stream: TextStream, line: string): void {
  draw(stream, bars.get(stream) ?? "", `${line}\n`);
}

function draw(stream: TextStream, bar: string, above = ""): void {
  const { length } = bars.get(stream) ?? "";
  // Blanks and a carriage return wipe a line on every terminal, also on one without escape codes.
  stream.write((length === 0 ? "" : `\r${" ".repeat(length)}\r`) + above + bar);
  if (bars.has(stream)) bars.set(stream, bar);
}

type Shown = { done: number; total: number; note: string | null };

function renderLine({ done, total, note }: Shown, columns: number): string {
  const count = total > 0 ? ` ${done}/${total}` : ` ${done}`;
  // One column stays free: a full line would wrap and could not be wiped.
  const width = Math.min(MAX_BAR, columns - count.length - 3);
  if (note !== null || total <= 0 || width < 1)
    return `${count.trim()} ${note ?? ""}`.trim().slice(0, Math.max(0, columns - 1));
  const filled = Math.round(width * Math.min(1, done / total));
  return `[${"#".repeat(filled)}${".".repeat(width - filled)}]${count}`;
}
