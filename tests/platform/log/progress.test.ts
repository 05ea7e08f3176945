import { describe, expect, test } from "bun:test";
import { createProgress, writeLine } from "../../../lib/platform/log/progress.ts";

/** A terminal's last line and the lines above it, as a person sees them. */
function screen(columns = 80) {
  const lines: string[] = [""];
  let column = 0;
  const written: string[] = [];
  return {
    columns,
    written,
    write(text: string) {
      written.push(text);
      for (const character of text) {
        if (character === "\r") column = 0;
        else if (character === "\n") {
          lines.push("");
          column = 0;
        } else {
          const line = (lines.at(-1) as string).padEnd(column);
          lines[lines.length - 1] = line.slice(0, column) + character + line.slice(column + 1);
          column += 1;
        }
      }
    },
    lines: () => lines.map((line) => line.trimEnd()),
  };
}

describe("createProgress()", () => {
  test("draws nothing when it is not enabled", () => {
    const stream = screen();
    const progress = createProgress({ stream, enabled: false });
    progress.setTotal(3);
    progress.advance(3);
    progress.stop();
    expect(stream.written).toEqual([]);
  });

  test("shows done and total without an escape code, and is gone after stop", () => {
    const stream = screen();
    const progress = createProgress({ stream, enabled: true });
    progress.setTotal(4);
    progress.advance(4);
    expect(stream.lines()).toEqual(["4/4"]);
    progress.stop();
    expect(stream.lines()).toEqual([""]);
    progress.advance(1);
    progress.setNote("too late");
    expect(stream.lines()).toEqual([""]);
    expect(stream.written.join("")).not.toContain("\u001b");
  });

  test("shows a note behind them, no wider than the terminal, until it is removed", () => {
    const stream = screen(30);
    const progress = createProgress({ stream, enabled: true, now: () => 0 });
    progress.setTotal(300);
    progress.advance(139);
    progress.setNote("waiting for the application until 08:15");
    expect(stream.lines()).toEqual(["139/300 waiting for the appli"]);
    writeLine(stream, "a line of the log");
    expect(stream.lines()).toEqual(["a line of the log", "139/300 waiting for the appli"]);
    progress.setNote(null);
    expect(stream.lines().at(-1)).toBe("139/300");
    progress.stop();
    writeLine(stream, "another");
    expect(stream.lines()).toEqual(["a line of the log", "another", ""]);
  });

  test("is drawn at most ten times a second, however often it advances", () => {
    const stream = screen();
    let now = 0;
    const progress = createProgress({ stream, enabled: true, now: () => now });
    progress.setTotal(10_000);
    for (let index = 0; index < 1_000; index++) {
      now += 1;
      progress.advance(1);
    }
    expect(stream.written.length).toBe(11);
  });
});
