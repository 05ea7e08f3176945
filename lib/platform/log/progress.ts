/** The stream that log and progress bar write to: standard error, or a test's list of lines. */
export type TextStream = { write(text: string): unknown; columns?: number | undefined };

/**
 * A bar for long work.
 *
 * Shape: `advance` counts `n` more items; `setNote` shows why nothing advances in place of the bar, null the bar again;
 *        `stop` wipes it, and nothing is drawn after that.
 */
export type Progress = {
  advance(n: number): void;
  setTotal(total: number): void;
  setNote(note: string | null): void;
  stop(): void;
};

const REDRAW_MS = 100;
const MAX_BAR = 40;
const NO_PROGRESS: Progress = { advance() {}, setTotal() {}, setNote() {}, stop() {} };

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
  const { stream, enabled, total = 0, now = () => performance.now() } = options;
  if (!enabled) return NO_PROGRESS;
  const shown: Shown = { done: 0, total, note: null };
  let drawn = "";
  let drawnAtMs = Number.NEGATIVE_INFINITY;

  // Blanks and a carriage return wipe a line on every terminal, also on one without escape codes.
  const wipe = () => {
    if (drawn !== "") stream.write(`\r${" ".repeat(drawn.length)}\r`);
    drawn = "";
  };
  const draw = () => {
    const line = renderLine(shown, stream.columns ?? 80);
    stream.write(`\r${line}${" ".repeat(Math.max(0, drawn.length - line.length))}`);
    drawn = line;
    drawnAtMs = now();
  };
  const bar = { wipe, draw };
  const update = (change: Partial<Shown>, isDue: boolean) => {
    Object.assign(shown, change);
    if (bars.get(stream) === bar && (isDue || shown.done === shown.total)) draw();
  };
  const isRedrawDue = () => now() - drawnAtMs >= REDRAW_MS;

  bars.set(stream, bar);
  return {
    advance: (n) => update({ done: shown.done + n }, isRedrawDue()),
    setTotal: (items) => update({ total: items }, isRedrawDue()),
    setNote: (note) => update({ note }, true),
    stop() {
      bars.delete(stream);
      wipe();
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
  // One column stays free: a full line would wrap and could not be wiped.
  const width = Math.min(MAX_BAR, columns - count.length - 3);
  if (note !== null || total <= 0 || width < 1)
    return `${count.trim()} ${note ?? ""}`.trim().slice(0, Math.max(0, columns - 1));
  const filled = Math.round(width * Math.min(1, done / total));
  return `[${"#".repeat(filled)}${".".repeat(width - filled)}]${count}`;
}
