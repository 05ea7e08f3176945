const MINUS = "\u2212";

/** From here on a double has no exact hundredths: decimals would be invented. */
const LARGEST_EXACT = 1e13;

/**
 * A number as Brazilians write it: "1.234", "12,5", "−3".
 *
 * Units: at most two decimals, halves away from zero. Written without locale data, so every runtime agrees.
 */
export function formatNumber(value: number): string {
  const size = Math.abs(value);
  if (size >= LARGEST_EXACT)
    return signed(value, size.toExponential(2).replace(".", ",").replace("e+", " × 10^"));
  if (Number.isInteger(size)) return signed(value, groupThousands(String(size)));
  const hundredths = Math.floor(size * 100 + 0.5);
  const whole = groupThousands(String(Math.floor(hundredths / 100)));
  const decimals = String(hundredths % 100)
    .padStart(2, "0")
    .replace(/0+$/, "");
  const text = decimals === "" ? whole : `${whole},${decimals}`;
  return hundredths === 0 ? text : signed(value, text);
}

/**
 * A fraction as a percentage: 0.4231 is "42,3%", 1 is "100,0%".
 *
 * Units: always one decimal, halves away from zero. Less than all is never shown as 100%, more than nothing never as
 *        0%.
 */
export function formatPercent(fraction: number): string {
  const size = Math.abs(fraction);
  if (size > 0 && size < 0.0005) return `menos de ${signed(fraction, "0,1%")}`;
  if (size < 1 && size >= 0.9995) return `mais de ${signed(fraction, "99,9%")}`;
  if (size * 100 >= LARGEST_EXACT) return `${formatNumber(fraction * 100)}%`;
  // Fifteen digits: what a decimal fraction gains or loses in binary is gone, so that a half is rounded as a half.
  const tenths = Math.floor(Number((size * 1000).toPrecision(15)) + 0.5);
  return signed(fraction, `${groupThousands(String(Math.floor(tenths / 10)))},${tenths % 10}%`);
}

/** A day of the year: 16/11. */
export function formatDayMonth(date: { day: number; month: number }): string {
  return `${String(date.day).padStart(2, "0")}/${String(date.month).padStart(2, "0")}`;
}

/** A count with its noun: "1 ponto", "5 pontos", "0 pontos". */
export function formatCount(count: number, singular: string, plural: string): string {
  return `${formatNumber(count)} ${count === 1 ? singular : plural}`;
}

/** Names in a sentence: "Instagram, LinkedIn e Blog". */
export function joinNames(names: readonly string[]): string {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} e ${names.at(-1)}`;
}

function groupThousands(digits: string): string {
  return digits.length <= 3 ? digits : digits.replace(/\B(?=(\d{3})+$)/g, ".");
}

function signed(value: number, text: string): string {
  return value < 0 ? MINUS + text : text;
}
