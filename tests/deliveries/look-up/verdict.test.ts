import { describe, expect, test } from "bun:test";
import { PeerPatience } from "../../../lib/deliveries/look-up/verdict.ts";

const failed = (fault: "refused" | "question" | "silent") =>
  ({ status: "failed", code: `was_${fault}`, fault }) as const;
const SILENT = failed("silent");

describe("PeerPatience", () => {
  const codeAfter = (...answers: Parameters<PeerPatience["note"]>[0][]) => {
    const patience = new PeerPatience();
    for (const answer of answers) patience.note(answer);
    return patience.code;
  };

  test("gives a peer up after three silences in a row", () => {
    expect(codeAfter(SILENT, SILENT)).toBeNull();
    expect(codeAfter(SILENT, SILENT, SILENT)).toBe("was_silent");
  });

  test.each([{ status: "answered" }, failed("question")])(
    "%j is an answer: the silences begin anew",
    (answer) => {
      expect(codeAfter(SILENT, SILENT, answer, SILENT, SILENT)).toBeNull();
    },
  );

  test("gives it up at once after a refusal, and for good", () => {
    expect(codeAfter(failed("refused"), { status: "answered" })).toBe("was_refused");
  });
});
