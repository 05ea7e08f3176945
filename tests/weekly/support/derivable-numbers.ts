/** The numbers that an e-mail may say: those of its payload, and what two of them give. */
import { formatNumber, formatPercent } from "../../../lib/text/pt-br.ts";
import type { Payload } from "../../../lib/weekly/payload.ts";
import { isRate, metricValue, shareOf } from "../../../lib/weekly/texts/metric-text.ts";

/** Numbers as they stand in a text: "16.110", "38,3%", "−0,5", "1,00 × 10^300". */
export function numbersIn(text: string): string[] {
  return text.match(/−?\d+(?:[.,]\d+)*(?: × 10\^\d+)?%?/g) ?? [];
}

/** What a text of this payload may say, written as people read it. */
export function derivableNumbers(payload: Payload): Set<string> {
  const channels = Object.values(payload.channels);
  const texts = [
    ...channels.flatMap(({ metrics, previous }) => figureTexts(metrics ?? {}, previous ?? {})),
    ...channels.flatMap(({ insights, reason }) => [...insights.map(({ text }) => text), reason ?? ""]),
    ...channels.flatMap(({ metrics }) => Object.keys(metrics ?? {})),
    ...payload.activationActions.map(({ label }) => label),
    payload.provenance.tenantName ?? "",
    ...scoreTexts(payload),
    ...dateTexts(payload),
  ];
  return new Set(texts.flatMap(numbersIn));
}

type Figures = NonNullable<Payload["channels"]["email"]["metrics"]>;

function figureTexts(metrics: Figures, previous: Figures): string[] {
  const [now, before] = [flat(metrics), flat(previous)];
  const parts = [now, before].flatMap((figures) =>
    Object.entries(figures).map(([key, value]) => metricValue(key, value)),
  );
  const pairs = Object.entries(now).flatMap(([key, value]) => {
    const other = before[key];
    return value === null || other === null || other === undefined ? [] : changeTexts(key, value, other);
  });
  const { opened, clicked } = typeof metrics.reached === "object" && metrics.reached ? metrics.reached : {};
  return [...parts, ...pairs, ...(opened && clicked ? [formatPercent(clicked / opened)] : [])];
}

function changeTexts(key: string, value: number, other: number): string[] {
  if (!isRate(key)) {
    const difference = Math.abs(value - other);
    return [formatNumber(difference), formatPercent(difference / other)];
  }
  const tenths = (rate: number) => Math.round(Number((shareOf(rate) * 1_000).toPrecision(12)));
  const points = formatPercent(Math.abs(tenths(value) - tenths(other)) / 1_000);
  return [points.replace("%", ""), "0,1"];
}

function flat(metrics: Figures): Record<string, number | null> {
  const { reached, ...figures } = metrics;
  const stages = typeof reached === "object" && reached !== null ? reached : { reached: reached ?? null };
  return { ...figures, ...stages } as Record<string, number | null>;
}

function scoreTexts({ accountScore, provenance }: Payload): string[] {
  const rounded = [accountScore.score, accountScore.previousScore].map((score) =>
    Math.floor((score ?? 0) + 0.5),
  );
  const weeks = (provenance.scoreHistory ?? []).map(({ score }) => Math.floor((score ?? 0) + 0.5));
  return [...rounded, ...weeks, Math.abs(rounded[0]! - rounded[1]!), 100].map(String);
}

function dateTexts({ windowStart, windowEnd, provenance }: Payload): string[] {
  const weeks = (provenance.scoreHistory ?? []).map(({ week }) => week);
  const days = [windowStart, new Date(Date.parse(windowEnd) - 86_400_000).toISOString(), ...weeks];
  return days.flatMap((day) => [day.slice(8, 10), day.slice(5, 7), day.slice(0, 4)]);
}
