const ONLY_A_NUMBER = /^[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;
/** `[ var='B' labels={instance=main} value=6.12e+08 ]`, one for each step; an expression's name comes first. */
const RENDERED_STEP = /\[ (?:var|metric)='([^']{0,200})'.{0,2000}? value=(\S{1,50}) \]/gs;

/** Without a value where nothing was measured. */
type Step = readonly [name: string, value: number | null];

/**
 * The number that an alert's rule compares, as text; another text as it was sent; null without one.
 *
 * Shape: plain digits, `612368384` or `11.2`. `valueString` is the platform's rendering of `values`.
 */
export function readValue(
  values: Readonly<Record<string, unknown>>,
  valueString: string | null,
): string | null {
  const steps = Object.entries(values).map(([name, value]) => [name, finite(value)] as const);
  const compared = comparedStep(steps);
  if (compared !== null) return String(compared);
  if (valueString === null) return null;
  const rendered = [...valueString.matchAll(RENDERED_STEP)];
  const measured =
    numberIn(valueString) ?? comparedStep(rendered.map(([, name, value]) => [name!, numberIn(value!)]));
  if (measured !== null) return String(measured);
  // Steps without a number, such as NaN: nothing was measured.
  return /^\s*\[ (?:var|metric)=/.test(valueString) ? null : valueString;
}

/** The number that a text is; null for any other text. */
export function numberIn(text: string): number | null {
  return ONLY_A_NUMBER.test(text.trim()) ? finite(Number(text)) : null;
}

function finite(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
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
