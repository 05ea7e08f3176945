import { describe, expect, test } from "bun:test";
import { STYLE } from "../../../../lib/webhook/http/page/style.ts";

const [LIGHT, DARK] = [...STYLE.toString().matchAll(/:root\{([^}]*)\}/g)].map(
  ([, rules]) =>
    new Map([...rules!.matchAll(/--([a-z-]+):(#[0-9a-f]+)/g)].map(([, name, colour]) => [name!, colour!])),
);

/** What is read on what. */
const PAIRS: [string, string][] = [
  ...["ink", "muted", "link", "warn", "bad"].map((text): [string, string] => [text, "panel"]),
  ...["ink", "muted"].map((text): [string, string] => [text, "page"]),
  ...["ok", "warn", "bad"].flatMap((level): [string, string][] => [
    [level, `${level}-back`],
    ["ink", `${level}-back`],
  ]),
];

/** How much a colour shines, from 0 to 1. Source: WCAG 2.2, relative luminance. */
function luminance(colour: string): number {
  const digits = colour.length === 4 ? colour.replace(/[0-9a-f]/g, "$&$&") : colour;
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(digits.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

function contrast(one: string, other: string): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light! + 0.05) / (dark! + 0.05);
}

describe.each([
  ["light", LIGHT!],
  ["dark", DARK!],
])("the page's colours in the %s", (_scheme, colours) => {
  test.each(PAIRS)("%s can be read on %s", (text, back) => {
    expect(contrast(colours.get(text)!, colours.get(back)!)).toBeGreaterThanOrEqual(4.5);
  });
});

test("the page's style has the same colours in the light and in the dark", () => {
  expect([...DARK!.keys()].sort()).toEqual([...LIGHT!.keys()].sort());
});
