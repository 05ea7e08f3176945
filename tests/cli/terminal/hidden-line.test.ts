/** The keys of a line that is not shown. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { EMPTY_LINE, type HiddenLine, typed } from "../../../cli/terminal/hidden-line.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const type = (...pieces: string[]): HiddenLine =>
  pieces.reduce((line, piece) => typed(line, bytes(piece)), EMPTY_LINE);
const text = (line: HiddenLine) => new TextDecoder().decode(Uint8Array.from(line.bytes));

describe("typed()", () => {
  test.each(["\r", "\n", "\r\n"])("ends the line at %j", (enter) => {
    const line = type("se", "cret", enter);
    expect([text(line), line.end]).toEqual(["secret", "line"]);
  });

  test("takes a character back, also one of several bytes, and never more than there is", () => {
    expect(text(type("ab\u007f"))).toBe("a");
    expect(text(type("aé\u007f"))).toBe("a");
    expect(text(type("a😀\u0008"))).toBe("a");
    expect(text(type("\u007f\u007fa"))).toBe("a");
  });

  test.each(["\u0015", "\u0017"])("begins again at %j", (key) => {
    expect(text(type(`wrong${key}right`))).toBe("right");
  });

  test.each(["\u0003", "\u001c"])("ends without a value at %j", (key) => {
    expect(type("half", key)).toEqual({ bytes: [], end: "interrupt" });
  });

  test("takes Ctrl-D as the end of nothing, and leaves it out of a line", () => {
    expect(type("\u0004").end).toBe("nothing");
    expect(text(type("a\u0004b"))).toBe("ab");
  });

  test("does not stop at Ctrl-Z", () => {
    const line = type("a\u001ab\r");
    expect([text(line), line.end]).toEqual(["ab", "line"]);
  });

  test("keeps what was pasted behind Enter, so that two lines are not taken for one", () => {
    expect(text(type("one\rtwo\r"))).toBe("one\rtwo\r");
    expect(text(type("one\r\r\n"))).toBe("one");
  });

  test("has the same line however the keys arrive", () => {
    const plain = fc.string({ unit: "grapheme", maxLength: 30 }).filter((one) => !/\p{Cc}/u.test(one));
    fc.assert(
      fc.property(plain, fc.nat(60), (value, at) => {
        const all = bytes(value);
        const cut = Math.min(at, all.length);
        const line = typed(typed(EMPTY_LINE, all.subarray(0, cut)), all.subarray(cut));
        expect(text(typed(line, bytes("\r")))).toBe(value);
      }),
    );
  });
});
