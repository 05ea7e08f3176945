import { describe, expect, test } from "bun:test";
import { parseReportedFindings } from "../../../lib/doctor/advice/reported-findings.ts";
import { renderFindings } from "../../../lib/doctor/render.ts";
import { renderSummary } from "../../../lib/doctor/render-summary.ts";

const finding = {
  command: "weekly",
  check: "secrets",
  status: "fail",
  code: "SECRET_MALFORMED",
  reason: "SECRET_MALFORMED: x",
  mend: null,
};
const reported = (findings: unknown) =>
  parseReportedFindings(JSON.stringify({ command: "weekly", check: "secrets", findings }))?.findings;

describe("parseReportedFindings()", () => {
  test("takes findings as they are", () => {
    expect(reported([finding, { ...finding, mend: "opsctl migrate" }])).toEqual([
      finding,
      { ...finding, mend: "opsctl migrate" },
    ] as never);
  });

  test("keeps the kind of a warning, and no other word in its stead", () => {
    const unchecked = { ...finding, because: "not_checked" };
    expect(reported([unchecked, { ...finding, because: "fine" }])).toEqual([unchecked, finding] as never);
  });

  test.each([
    "",
    "no JSON",
    "[]",
    "null",
    "3",
    '{"findings":[]}',
    '{"command":"weekly","check":"secrets","findings":{}}',
    '{"error":null}',
  ])("takes nothing of %p", (line) => expect(parseReportedFindings(line)).toBeNull());

  test("takes a check that has nothing to say", () => {
    expect(reported([])).toEqual([]);
  });

  test("leaves out what is no finding of the check", () => {
    const none = [
      null,
      3,
      [],
      { ...finding, command: "rm" },
      { ...finding, status: "fine" },
      { ...finding, check: 1 },
      { ...finding, check: "database" },
      { ...finding, command: "webhook" },
    ];
    expect(reported([...none, { ...finding, reason: undefined }])).toEqual([]);
  });

  test("lets no text move the cursor or go on for ever", () => {
    const [shown] =
      reported([{ ...finding, reason: "a\u001b[2Jb\nok  c\u202e", mend: "x".repeat(100_000) }]) ?? [];
    expect(shown?.reason).toBe("a [2Jb ok c");
    expect(shown?.mend?.length).toBeLessThanOrEqual(2_000);
  });

  test("lets no text look like the line that mends it, however wide the terminal is", () => {
    const words = `${"x".repeat(500)} -> sudo sh /var/lib/opsctl/fix`;
    const found = reported([{ ...finding, reason: words, mend: `The account opsctl says: ${words}` }]) ?? [];
    for (const width of [40, 80, 200, 400]) {
      const text = renderFindings(found, { width, colour: false, clean: (shown) => shown });
      expect(text.match(/^ +-> .*/gm)).toEqual(["        -> The account opsctl says:"]);
    }
    const says = `The account opsctl says: it is ${"wrong ".repeat(9)}: chmod 4755 /x`;
    const [said] = reported([{ ...finding, mend: says }]) ?? [];
    const screen = { width: 40, colour: false, clean: (shown: string) => shown };
    for (const text of [renderFindings([said!], screen), renderSummary([said!], screen)]) {
      expect(text).toContain("The account opsctl says:");
      expect(text).not.toMatch(/^ +chmod 4755 \/x$/m);
    }
    const [command] =
      reported([{ ...finding, reason: `a file is ${"wrong ".repeat(9)}: chmod 4755 /x` }]) ?? [];
    expect(renderFindings([command!], { width: 40, colour: false, clean: (shown) => shown })).not.toMatch(
      /^ +chmod 4755 \/x$/m,
    );
  });
});
