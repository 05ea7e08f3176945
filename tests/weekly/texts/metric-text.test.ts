import { describe, expect, test } from "bun:test";
import { metricName, metricValue, shareOf } from "../../../lib/weekly/texts/metric-text.ts";

describe("metricName()", () => {
  test.each([
    ["email", "openRate", "Taxa de abertura"],
    ["email", "noEvent", "Sem informação de entrega"],
    ["instagram", "engagementRate", "Taxa de engajamento"],
    ["linkedin", "engagement_rate", "Taxa de engajamento"],
    ["instagram", "profile-visits", "Visitas ao perfil"],
    ["instagram", "storyReplies", "Story replies"],
    ["instagram", "story__replies_", "Story replies"],
    ["instagram", "çedilha", "Çedilha"],
    ["instagram", "<b>", "<b>"],
    ["instagram", "", "Sem nome"],
    ["instagram", "\u200B", "Sem nome"],
    ["instagram", "toString", "To string"],
    ["instagram", "sends", "Sends"],
  ] as const)("the text of %s %p is %s", (channel, key, label) => {
    expect(metricName(channel, key).label).toBe(label);
  });

  test("bounds a name that has no end", () => {
    expect(metricName("instagram", "nome ".repeat(10_000)).label.length).toBeLessThanOrEqual(36);
  });
});

describe("metricValue()", () => {
  test.each([
    ["openRate", 0.4224, "42,2%"],
    ["growth_rate", -0.02, "−2,0%"],
    ["engagementRate", 0, "0,0%"],
    ["engagementRate", 0.045, "4,5%"],
    ["engagementRate", 1, "100,0%"],
    ["engagementRate", 4.5, "4,5%"],
    ["engagement_rate", 4.25, "4,3%"],
    ["engagement-rate", 4.249, "4,2%"],
    ["engagement rate", 100, "100,0%"],
    ["follower_growth_rate", -12, "−12,0%"],
    ["ctr", 1.01, "1,0%"],
    ["CTR", 0.0101, "1,0%"],
    ["clickRate", 1_234, "1.234,0%"],
    ["clickRate", 1e300, "1,00 × 10^300%"],
    ["clickRate", Number.MAX_VALUE, "1,80 × 10^308%"],
    ["rated", 4.5, "4,5"],
    ["reach", 0.5, "0,5"],
    ["reach", 0, "0"],
    ["corporate", 1, "1"],
    ["reach", null, "sem dado"],
    ["reach", JSON.parse("{}"), "sem dado"],
  ])("the text of %s %p is %s", (key, value, text) => {
    expect(metricValue(key, value)).toBe(text);
  });
});

describe("shareOf()", () => {
  test.each([
    [0, 0],
    [0.045, 0.045],
    [1, 1],
    [1.5, 0.015],
    [4.5, 0.045],
    [100, 1],
    [-0.2, -0.2],
    [-20, -0.2],
  ])("takes %p for the share %p", (rate, share) => {
    expect(shareOf(rate)).toBeCloseTo(share, 12);
  });
});
