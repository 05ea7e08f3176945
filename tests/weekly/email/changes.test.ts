/** What a card of the e-mail says of a figure and the same figure of the week before. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { available, payloadOf } from "../../fixtures/payloads.ts";
import { type ShownEmail, showEmail } from "../support/shown-email.ts";

/** The e-mail of a week in which a network has this figure, and another that has not changed. */
function emailAbout(key: string, now: number | null, before: number | null): ShownEmail {
  const instagram = { ...available({ [key]: now, posts: 4 }, []), previous: { [key]: before, posts: 4 } };
  return showEmail(payloadOf({ channels: { instagram } }));
}

/** The words in brackets behind the figure. */
function changeIn(email: ShownEmail): string | null {
  const line = email.card("Instagram").find((each) => each.startsWith("- ") && !each.includes("Publicações"));
  return /^- [^:]+: [^(]+ \((.*)\)$/.exec(line ?? "")?.[1] ?? null;
}

const changeOf = (key: string, now: number | null, before: number | null) =>
  changeIn(emailAbout(key, now, before));

describe("the change of a figure in a card", () => {
  test.each([
    // A count changes by its difference, and in per cent where that says more than the two numbers.
    ["reach", 58_210, 42_100, "16.110 a mais, 38,3%"],
    ["reach", 42_100, 58_210, "16.110 a menos, 27,7%"],
    ["reach", 0, 40, "40 a menos, 100,0%"],
    ["reach", 40, 0, "40 a mais"],
    ["reach", 30, 20, "10 a mais, 50,0%"],
    ["reach", 38, 19, "19 a mais"],
    ["reach", 219, 20, "199 a mais, 995,0%"],
    ["reach", 220, 20, "200 a mais"],
    ["reach", 5, 5, "igual"],
    ["reach", -0, 0, "igual"],
    ["reach", 7, -3, "10 a mais"],
    ["reach", -3, 2, "5 a menos"],
    ["reach", 12.5, 10.25, "2,25 a mais"],
    ["reach", 1e300, 2e300, "1,00 × 10^300 a menos, 50,0%"],
    ["reach", 1e300, 5, "1,00 × 10^300 a mais"],
    ["posts_per_day", 1.004, 1.001, "igual"],
    ["posts_per_day", 1.5, 1.25, "0,25 a mais"],
    // A rate changes by percentage points, of the figures as they are shown.
    ["open_rate", 0.4426, 0.4041, "3,9 p.p. a mais"],
    ["open_rate", 0.443, 0.4041, "3,9 p.p. a mais"],
    ["open_rate", 0.40412, 0.4041, "igual"],
    ["open_rate", 0, 0.02, "2,0 p.p. a menos"],
    ["open_rate", 1, 0.9999, "menos de 0,1 p.p. a mais"],
    ["engagement_rate", 0.0003, 0, "menos de 0,1 p.p. a mais"],
    ["engagement_rate", 1, 0.5, "50,0 p.p. a mais"],
    ["engagementRate", 4.7, 4.5, "0,2 p.p. a mais"],
    ["engagement_rate", 0, 4.7, "4,7 p.p. a menos"],
    ["ctr", 0, 1.2, "1,2 p.p. a menos"],
    // What cannot be compared: the week before lacks it, its unit is not known, no number is the difference.
    ["reach", 5, null, "sem comparação"],
    ["ctr", 1.2, 0.9, "sem comparação"],
    ["ctr", 0.9, 1.2, "sem comparação"],
    ["open_rate", 1, 50, "sem comparação"],
    ["open_rate", 50, 1, "sem comparação"],
    ["engagement_rate", 4.7, 0.045, "sem comparação"],
    ["engagement_rate", -0.5, -5, "sem comparação"],
    ["reach", 1.7e308, -1.7e308, "sem comparação"],
    ["reach", null, 5, null],
  ])("the change of %s, %p after %p, is %p", (key, now, before, words) => {
    expect(changeOf(key, now, before)).toBe(words);
  });

  test("the other way round says the same with the other sign", () => {
    const figure = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }));
    const upwards = (words: string | null) => words?.replace("a menos", "a mais").replace(/, [^,]*,\d%$/, "");
    fc.assert(
      fc.property(fc.constantFrom("reach", "open_rate"), figure, figure, (key, a, b) => {
        expect(upwards(changeOf(key, a, b))).toBe(upwards(changeOf(key, b, a))!);
      }),
    );
  });
});

describe("the colour of a change", () => {
  test.each([
    ["reach", 2, 1, "good"],
    ["reach", 1, 2, "bad"],
    ["reach", 1, 1, "muted"],
    ["followers_lost", 20, 12, "bad"],
    ["followers_lost", 12, 20, "good"],
    // Below zero it may be a gain.
    ["followers_lost", -20, -12, "muted"],
    ["followers_lost", -12, 20, "muted"],
    // What more of it means is not known; an e-mail's trouble is no figure of a network.
    ["story_replies", 2, 1, "muted"],
    ["failed", 2, 1, "muted"],
  ] as const)("the colour of %s, %p after %p, is %s", (key, now, before, tone) => {
    const email = emailAbout(key, now, before);
    expect(email.toneOf(changeIn(email)!.replace(/, .*/, ""))).toBe(tone);
  });
});
