/** The reports that goldens and pictures are made of are weeks that can happen. */
import { describe, expect, test } from "bun:test";
import type { Channel } from "../../../lib/weekly/payload.ts";
import type { EmailMetrics } from "../../../lib/weekly/report/email-insights.ts";
import { PAYLOADS } from "../../fixtures/payloads.ts";

const STATES = [
  ...(["delivered", "opened", "clicked", "bounced", "complained"] as const),
  ...(["failed", "delayed", "suppressed", "noEvent"] as const),
];

/** Rates have four decimals, a twentieth of what is shown. */
const DECIMALS = 3;

const ORDINARY = Object.entries(PAYLOADS).filter(([name]) => !["hostile", "huge"].includes(name));
const weeksOf = ({ metrics, previous }: Channel) => [metrics, previous].filter((week) => week != null);

describe.each(ORDINARY)("the figures of the example %s", (_name, { channels }) => {
  test("about e-mails agree with each other, in both weeks", () => {
    const known = weeksOf(channels.email) as unknown as EmailMetrics[];
    for (const week of known.filter(
      ({ reached, delivered }) => reached !== undefined && delivered !== null,
    )) {
      const { sends, noEvent, reached } = week;
      expect(STATES.reduce((sum, state) => sum + week[state]!, 0)).toBe(sends!);
      expect(reached.opened!).toBeLessThanOrEqual(reached.delivered!);
      expect(reached.clicked!).toBeLessThanOrEqual(reached.opened!);
      expect(reached.opened!).toBeGreaterThanOrEqual(week.opened! + week.clicked!);
      const withEvent = sends! - noEvent!;
      if (week.openRate === null) continue;
      expect(week.deliveryRate!).toBeCloseTo(reached.delivered! / withEvent, DECIMALS);
      expect(week.openRate).toBeCloseTo(reached.opened! / withEvent, DECIMALS);
      expect(week.clickRate!).toBeCloseTo(reached.clicked! / withEvent, DECIMALS);
      expect(week.bounceRate!).toBeCloseTo(week.bounced! / withEvent, DECIMALS);
    }
  });

  test("about networks reach no more people than times they are shown", () => {
    for (const week of [channels.instagram, channels.linkedin].flatMap(weeksOf)) {
      const { reach, impressions } = week;
      if (typeof reach === "number" && typeof impressions === "number")
        expect(reach).toBeLessThanOrEqual(impressions);
    }
  });
});
