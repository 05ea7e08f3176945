/** The reports that goldens and pictures are made of are weeks that can happen. */
import { describe, expect, test } from "bun:test";
import type { Channel, Payload } from "../../../lib/weekly/payload.ts";
import { type EmailMetrics, PAYLOADS } from "../../fixtures/payloads.ts";

const STATES = [
  ...(["delivered", "opened", "clicked", "bounced", "complained"] as const),
  ...(["failed", "delayed", "suppressed", "noEvent"] as const),
];

/** Rates have four decimals, a twentieth of what is shown. */
const DECIMALS = 3;

const ORDINARY = Object.entries(PAYLOADS).filter(([name]) => !["hostile", "huge"].includes(name));
const weeksOf = ({ metrics, previous }: Channel) => [metrics, previous].filter((week) => week != null);

/** The weeks of which the e-mails' events are known. */
const emailWeeksOf = ({ email }: Payload["channels"]) =>
  (weeksOf(email) as unknown as EmailMetrics[]).filter(
    ({ reached, delivered }) => reached !== undefined && delivered !== null,
  );

/** The weeks of networks that know how many people saw how much. */
const networkWeeksOf = ({ instagram, linkedin }: Payload["channels"]) =>
  [instagram, linkedin]
    .flatMap(weeksOf)
    .filter(({ reach, impressions }) => typeof reach === "number" && typeof impressions === "number");

test("the examples have weeks to compare, of e-mails and of networks", () => {
  expect(ORDINARY.flatMap(([, { channels }]) => emailWeeksOf(channels)).length).toBeGreaterThan(5);
  expect(ORDINARY.flatMap(([, { channels }]) => networkWeeksOf(channels)).length).toBeGreaterThan(5);
});

describe.each(ORDINARY)("the figures of the example %s", (_name, { channels }) => {
  test("about e-mails agree with each other, in both weeks", () => {
    for (const week of emailWeeksOf(channels)) {
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
    for (const { reach, impressions } of networkWeeksOf(channels))
      expect(reach as number).toBeLessThanOrEqual(impressions as number);
  });
});
