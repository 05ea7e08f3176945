import { isJsonObject, type JsonObject } from "./json-object.ts";

/** Longer texts are not looked through: a rule has a handful of steps. */
const MAX_UNITS = 20_000;

const ONLY_A_NUMBER = /^[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;
/** `B=612368384, C=1`, as rows of older versions have it. */
const STEP = /^([^=,]+)=([^=,\s]+)$/;
/** `[ var='B' labels={instance=main} value=6.12e+08 ]`, one for each step; an expression's name comes first. */
const RENDERED_STEP = /\[ (?:var|metric)='([^']{0,200})'.{0,2000}? value=(\S{1,50}) \]/gs;

/** The step that our own rules compare. */
const COMPARED = "B";

/** Without a value where nothing was measured. */
type Step = readonly [name: string, value: number | null];

/**
 * The number that an alert's rule compares, as text; another text as it was sent; null without one.
 *
 * Shape: plain digits, `612368384` or `11.2`.
 */
export function readValue({ values, valueString }: JsonObject): string | null {
  const compared = comparedStep(numbersOf(values));
  if (compared !== null) return String(compared);
  if (typeof valueString !== "string" || valueString.trim() === "") return null;
  const measured = measuredNumber(valueString);
  if (measured !== null) return String(measured);
  // Steps without a number, such as NaN: nothing was measured.
  return /^\s*\[ (?:var|metric)=/.test(valueString) ? null : valueString.slice(0, MAX_UNITS);
}

/** The number in an alert's value, also in one that an older version stored; null when there is none. */
export function measuredNumber(text: string): number | null {
  if (text.length > MAX_UNITS) return null;
  const alone = numberIn(text);
  if (alone !== null) return alone;
  const stored = text.split(", ").map((part) => STEP.exec(part));
  const found = stored.every((match) => match !== null) ? stored : [...text.matchAll(RENDERED_STEP)];
  return comparedStep(found.map((match) => [match![1]!, numberIn(match![2]!)]));
}

/**
 * The step that is compared: B, else the last one that is more than the comparison's own yes or no.
 *
 * Shape:  null also when that step has no number: another one's would be taken for it.
 * Source: alert webhook contract, per-alert field `values`; the steps come in the order of their names.
 */
function comparedStep(steps: readonly Step[]): number | null {
  const isVerdict = (value: number | null) => value === 0 || value === 1;
  const named = steps.find(([name]) => name === COMPARED);
  const compared = named ?? steps.findLast(([, value]) => !isVerdict(value)) ?? steps[0];
  return compared === undefined ? null : compared[1];
}

function numbersOf(values: unknown): Step[] {
  if (!isJsonObject(values)) return [];
  return Object.keys(values).map((name) => {
    const value = values[name];
    return [name, typeof value === "number" && Number.isFinite(value) ? value : null];
  });
}

function numberIn(text: string): number | null {
  const value = ONLY_A_NUMBER.test(text.trim()) ? Number(text) : Number.NaN;
  return Number.isFinite(value) ? value : null;
}
