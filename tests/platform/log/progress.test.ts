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
    const progress = createProgress({ stream, enabled: false, total: 2 });
    progress.setTotal(3);
    progress.advance(3);
    progress.stop();
    expect(stream.written).toEqual([]);
  });

  test("shows done and total, and is gone after stop", () => {
    const stream = screen();
    const progress = createProgress({ stream, enabled: true });
    progress.setTotal(4);
    progress.advance(4);
    expect(stream.lines()).toEqual([`[${"#".repeat(40)}] 4/4`]);
    progress.stop();
    expect(stream.lines()).toEqual([""]);
    progress.advance(1);
    expect(stream.lines()).toEqual([""]);
  });

  test("shows a note in the place of the bar, no wider than the terminal, until it is removed", () => {
    const stream = screen(30);
    const progress = createProgress({ stream, enabled: true, now: () => 0 });
    progress.setTotal(300);
    progress.advance(139);
    progress.setNote("waiting for the application until 08:15");
    expect(stream.lines()).toEqual(["139/300 waiting for the appli"]);
    writeLine(stream, "a line of the log");
    expect(stream.lines()).toEqual(["a line of the log", "139/300 waiting for the appli"]);
    progress.setNote(null);
    expect(stream.lines().at(-1)).toMatch(/^\[#+\.+\] 139\/300$/);
    progress.stop();
    progress.setNote("too late");
    expect(stream.lines().at(-1)).toBe("");
  });

  test("is drawn at most ten times a second, however often it advances", () => {
    const stream = screen();
    let now = 0;
    const progress = createProgress({ stream, enabled: true, total: 10_000, now: () => now });
    for (let index = 0; index < 1_000; index++) {
      progress.advance(1);
      now += 1;
    }
    expect(stream.written.length).toBe(10);
  });

  test("never fills the terminal's width, also on a narrow one", () => {
    for (const columns of [8, 12, 20, 30, 200]) {
      const stream = screen(columns);
      const progress = createProgress({ stream, enabled: true, total: 1000 });
      progress.advance(1000);
      for (const line of stream.lines()) expect(line.length).toBeLessThan(columns);
    }
  });

  test("uses no escape codes", () => {
    const stream = screen();
    const progress = createProgress({ stream, enabled: true, total: 2 });
    progress.advance(2);
    progress.stop();
    expect(stream.written.join("")).not.toContain("\u001b");
  });
});

describe("writeLine()", () => {
  test("puts a line above the bar and draws the bar again", () => {
    const stream = screen();
    const progress = createProgress({ stream, enabled: true, total: 2 });
    progress.advance(1);
    writeLine(stream, "a log line");
    expect(stream.lines()).toEqual(["a log line", `[${"#".repeat(20)}${".".repeat(20)}] 1/2`]);
    progress.stop();
    writeLine(stream, "another");
    expect(stream.lines()).toEqual(["a log line", "another", ""]);
  });
});
