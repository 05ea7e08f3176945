import { isJsonObject, type JsonObject } from "./json-object.ts";

/** Longer texts are not looked through: a rule has a handful of steps. */
const MAX_UNITS = 20_000;

const ONLY_A_NUMBER = /^[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;
/** `[ var='B' labels={instance=main} value=6.12e+08 ]`, one for each step; an expression's name comes first. */
const RENDERED_STEP = /\[ (?:var|metric)='([^']{0,200})'.{0,2000}? value=(\S{1,50}) \]/gs;

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
  const measured = valueString.length > MAX_UNITS ? null : measuredNumber(valueString);
  if (measured !== null) return String(measured);
  // Steps without a number, such as NaN: nothing was measured.
  return /^\s*\[ (?:var|metric)=/.test(valueString) ? null : valueString;
}

function measuredNumber(text: string): number | null {
  const steps = [...text.matchAll(RENDERED_STEP)];
  return numberIn(text) ?? comparedStep(steps.map(([, name, value]) => [name!, numberIn(value!)]));
}

/** The number that a text is; null for any other text. */
export function numberIn(text: string): number | null {
  const value = ONLY_A_NUMBER.test(text.trim()) ? Number(text) : Number.NaN;
  return Number.isFinite(value) ? value : null;
}

/**
 * The step that is compared: B, as in our own rules, else the last one that is more than the comparison's own yes or no.
 *
 * Shape:  null also when that step has no number: another one's would be taken for it.
 * Source: alert webhook contract, per-alert field `values`; the steps come in the order of their names.
 */
function comparedStep(steps: readonly Step[]): number | null {
  const isVerdict = (value: number | null) => value === 0 || value === 1;
  const named = steps.find(([name]) => name === "B");
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
