/** The stream that log and progress line write to: standard error, or a test's list of lines. */
export type TextStream = { write(text: string): unknown; columns?: number | undefined };

/** A line for long work. */
export type Progress = ReturnType<typeof createProgress>;

const REDRAW_MS = 100;

/** The progress on the last line of each stream, so that log lines go above it. */
const drawn = new WeakMap<TextStream, string>();

/**
 * Progress as `139/300` on the last line of `stream`, or nothing when `enabled` is false (no terminal, or `--json`):
 * plain characters, never wider than the terminal, drawn at most ten times a second.
 */
export function createProgress(options: { stream: TextStream; enabled: boolean; now?: () => number }) {
  const { stream, enabled, now = () => performance.now() } = options;
  let [done, total, note]: [number, number, string | null] = [0, 0, null];
  let drawnAtMs = Number.NEGATIVE_INFINITY;
  if (enabled) drawn.set(stream, "");
  const update = (isDue = done === total || now() - drawnAtMs >= REDRAW_MS) => {
    if (!drawn.has(stream) || !isDue) return;
    drawnAtMs = now();
    const line = `${done}${total > 0 ? `/${total}` : ""} ${note ?? ""}`.trimEnd();
    // One column stays free: a full line would wrap and could not be wiped.
    draw(stream, line.slice(0, (stream.columns ?? 80) - 1));
  };
  return {
    advance(n: number) {
      done += n;
      update();
    },
    setTotal(items: number) {
      total = items;
      update();
    },
    /** Says why nothing advances, until it is null. */
    setNote(text: string | null) {
      note = text;
      update(true);
    },
    /** Wipes the line. */
    stop() {
      if (drawn.get(stream)) draw(stream, "");
      drawn.delete(stream);
    },
  };
}

/** Writes a whole line to `stream`, above the progress if there is any. */
export function writeLine(stream: TextStream, line: string): void {
  draw(stream, drawn.get(stream) ?? "", `${line}\n`);
}

function draw(stream: TextStream, progress: string, above = ""): void {
  const { length } = drawn.get(stream) ?? "";
  // Blanks and a carriage return wipe a line on every terminal, also on one without escape codes.
  stream.write((length === 0 ? "" : `\r${" ".repeat(length)}\r`) + above + progress);
  if (drawn.has(stream)) drawn.set(stream, progress);
}
