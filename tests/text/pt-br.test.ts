import { describe, expect, test } from "bun:test";
import { formatCount, formatDayMonth, formatNumber, formatPercent, joinNames } from "../../lib/text/pt-br.ts";

describe("formatNumber()", () => {
  test.each([
    [0, "0"],
    [-0, "0"],
    [7, "7"],
    [999, "999"],
    [1234, "1.234"],
    [1234567, "1.234.567"],
    [12.5, "12,5"],
    [0.004, "0"],
    [-0.004, "0"],
    [0.005, "0,01"],
    [99.995, "100"],
    [1234.56, "1.234,56"],
    [-3, "−3"],
    [-1234.5, "−1.234,5"],
    [9_999_999_999_999, "9.999.999.999.999"],
    [1.5e20, "1,50 × 10^20"],
    [-1.7976931348623157e308, "−1,80 × 10^308"],
  ])("writes %p as %s", (value, expected) => {
    expect(formatNumber(value)).toBe(expected);
  });
});

describe("formatPercent()", () => {
  test.each([
    [0, "0,0%"],
    [1, "100,0%"],
    [0.4231, "42,3%"],
    [0.4235, "42,4%"],
    [0.0825, "8,3%"],
    [0.5, "50,0%"],
    [0.04249, "4,2%"],
    [0.0425, "4,3%"],
    [-0.0425, "−4,3%"],
    [0.9996, "mais de 99,9%"],
    [0.9994, "99,9%"],
    [0.0004, "menos de 0,1%"],
    [0.0005, "0,1%"],
    [-0.021, "−2,1%"],
    [12.5, "1.250,0%"],
    [123_456_789.0125, "12.345.678.901,3%"],
    [1e300, "1,00 × 10^302%"],
  ])("writes %p as %s", (fraction, expected) => {
    expect(formatPercent(fraction)).toBe(expected);
  });
});

test.each([
  [{ day: 4, month: 1 }, "04/01"],
  [{ day: 29, month: 12 }, "29/12"],
])("formatDayMonth() writes %p as %s", (date, expected) => {
  expect(formatDayMonth(date)).toBe(expected);
});

test.each([
  [0, "0 pontos"],
  [1, "1 ponto"],
  [1000, "1.000 pontos"],
])("formatCount() says %p with its noun", (count, expected) => {
  expect(formatCount(count, "ponto", "pontos")).toBe(expected);
});

test.each([
  [[], ""],
  [["Blog"], "Blog"],
  [["Blog", "TikTok"], "Blog e TikTok"],
  [["LinkedIn", "Blog", "TikTok"], "LinkedIn, Blog e TikTok"],
])("joinNames() joins %p as a sentence does", (names, expected) => {
  expect(joinNames(names)).toBe(expected);
});
