import { describe, expect, test } from "bun:test";
import { metricName, metricValue } from "../../../lib/weekly/texts/metric-text.ts";

describe("metricName()", () => {
  test.each([
    ["email", "openRate", "Taxa de abertura"],
    ["email", "noEvent", "Sem evento registrado"],
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
  ] as const)("of %s %p is %s", (channel, key, label) => {
    expect(metricName(channel, key).label).toBe(label);
  });

  test("bounds a name that has no end", () => {
    expect(metricName("instagram", "nome ".repeat(10_000)).label.length).toBeLessThanOrEqual(36);
  });
});

describe("metricValue()", () => {
  test.each([
    ["openRate", 0.4224, "42,2%"],
    ["growth_rate", -0.02, "−2%"],
    ["engagementRate", 4.5, "4,5"],
    ["reach", 0.5, "0,5"],
    ["reach", 0, "0"],
    ["corporate", 1, "1"],
    ["reach", null, "sem dado"],
    ["reach", {} as never, "sem dado"],
  ])("of %s %p is %s", (key, value, text) => {
    expect(metricValue(key, value)).toBe(text);
  });
});
