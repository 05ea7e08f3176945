/** The numbers that an e-mail may say: those of its payload, and what two of them give. */
import { formatNumber, formatPercent } from "../../../lib/text/pt-br.ts";
import { CHANNELS, type Channel, type ChannelName, type Payload } from "../../../lib/weekly/payload.ts";
import { isRate, metricValue, shareOf } from "../../../lib/weekly/texts/metric-text.ts";

/** Numbers as they stand in a text: "16.110", "38,3%", "−0,5", "1,00 × 10^300". */
export function numbersIn(text: string): string[] {
  return text.match(/−?\d+(?:[.,]\d+)*(?: × 10\^\d+)?%?/g) ?? [];
}

/** What each channel of a payload may say, and what the rest of the e-mail may: score, dates, name and steps. */
export type DerivableNumbers = Record<ChannelName | "frame", ReadonlySet<string>>;

/** What the parts of this payload's e-mail may say, written as people read it. */
export function derivableNumbers(payload: Payload): DerivableNumbers {
  const setOf = (texts: string[]) => new Set(texts.flatMap(numbersIn));
  const channels = CHANNELS.map((name) => [name, setOf(channelTexts(payload.channels[name]))] as const);
  const frame = setOf([
    ...payload.activationActions.map(({ label }) => label),
    payload.provenance.tenantName ?? "",
    ...scoreTexts(payload),
    ...dateTexts(payload),
  ]);
  return { ...(Object.fromEntries(channels) as Record<ChannelName, Set<string>>), frame };
}

type Figures = NonNullable<Payload["channels"]["email"]["metrics"]>;

function channelTexts({ metrics, previous, insights, reason }: Channel): string[] {
  return [
    ...figureTexts(metrics ?? {}, previous ?? {}),
    ...insights.map(({ text }) => text),
    reason ?? "",
    ...Object.keys(metrics ?? {}),
  ];
}

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
  return { ...figures, ...countedRates(metrics), ...stages } as Record<string, number | null>;
}

/** The rates of e-mails as their counts give them, where the stored ones are these with four decimals. */
function countedRates({ reached, ...figures }: Figures): Record<string, number> {
  if (typeof reached !== "object" || reached === null) return {};
  const known = (figures.sends as number) - (figures.noEvent as number);
  const { delivered, opened, clicked } = reached;
  const parts = {
    deliveryRate: delivered,
    openRate: opened,
    clickRate: clicked,
    bounceRate: figures.bounced,
  };
  return Object.fromEntries(
    Object.entries(parts)
      .map(([name, part]) => [name, (part as number) / known] as const)
      .filter(([name, rate]) => Math.abs(rate - (figures[name] as number)) < 0.0001),
  );
}

/** A score that is not there gives no number, and no difference either. */
function scoreTexts({ accountScore: { score, previousScore }, provenance }: Payload): string[] {
  const shown = (value: number) => Math.floor(value + 0.5);
  const known = [score, previousScore, ...(provenance.scoreHistory ?? []).map((week) => week.score)];
  const scores = known.flatMap((value) => (value === null ? [] : [shown(value)]));
  const change =
    score === null || previousScore === null ? [] : [Math.abs(shown(score) - shown(previousScore))];
  return [...scores, ...change, ...(score === null ? [] : [100])].map(String);
}

function dateTexts({ windowStart, windowEnd, provenance }: Payload): string[] {
  const weeks = (provenance.scoreHistory ?? []).map(({ week }) => week);
  const days = [windowStart, new Date(Date.parse(windowEnd) - 86_400_000).toISOString(), ...weeks];
  return days.flatMap((day) => [day.slice(8, 10), day.slice(5, 7), day.slice(0, 4)]);
}
