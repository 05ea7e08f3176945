import { describe, expect, test } from "bun:test";
import { scoreWeeksView } from "../../../lib/weekly/email/score-weeks.ts";

/** Eight weeks that end with 4 January, across the end of a year. */
const MONDAYS = [
  ...["2026-11-16", "2026-11-23", "2026-11-30", "2026-12-07"],
  ...["2026-12-14", "2026-12-21", "2026-12-28", "2027-01-04"],
];

/** The last weeks' scores; none before them. */
const history = (...scores: (number | null)[]) =>
  MONDAYS.map((week, i) => ({ week, score: scores[i + scores.length - MONDAYS.length] ?? null }));

describe("scoreWeeksView()", () => {
  test("names each Monday, across the end of a year", () => {
    expect(scoreWeeksView(history(50), null)?.weeks.map(({ day }) => day)).toEqual([
      ...["16/11", "23/11", "30/11", "07/12", "14/12", "21/12", "28/12", "04/01"],
    ]);
  });

  test("has the score that this week is compared with where no report of that week told one", () => {
    const { weeks, label, note } = scoreWeeksView(history(72), 70)!;
    expect(weeks.map(({ score }) => score)).toEqual([null, null, null, null, null, null, 70, 72]);
    expect(label).toContain("28/12: 70; 04/01: 72");
    expect(note).toBeNull();
  });

  test("keeps what the owner was told where the application has another score now, or none", () => {
    expect(scoreWeeksView(history(68.4, 72), 70)?.weeks.at(-2)?.score).toBe(68);
    expect(scoreWeeksView(history(68.4, 72), null)?.weeks.at(-2)?.score).toBe(68);
  });
});
