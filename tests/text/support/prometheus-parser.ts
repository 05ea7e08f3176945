/** A strict reader of Prometheus' text format: it accepts what the format's description allows and nothing else. */
export type ParsedFamily = { name: string; help: string; type: string; samples: Series[] };

/** One series: its name, labels and value. */
export type Series = { name: string; labels: Record<string, string>; value: number };

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[^"\\}]|"(?:[^"\\]|\\.)*")*)\})? (\S+)$/;
const PAIR = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\[\\"n])*)"(,|$)/gy;
const NUMBER = /^(?:NaN|[+-]Inf|[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/;

/** Reads `text`, or throws at the first line that is not as the format demands. */
export function parsePrometheus(text: string): ParsedFamily[] {
  if (text !== "" && !text.endsWith("\n")) throw new Error("The last line does not end");
  const families: ParsedFamily[] = [];
  for (const line of text.split("\n").slice(0, -1)) {
    const [, kind, name = "", rest = ""] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (kind === "HELP") {
      if (!NAME.test(name) || families.some((family) => family.name === name))
        throw new Error(`HELP: ${line}`);
      families.push({ name, help: unescaped(rest, /\\([\\n])/g), type: "", samples: [] });
    } else if (kind === "TYPE") {
      const family = families.at(-1);
      if (family?.name !== name || family.type !== "" || family.samples.length > 0)
        throw new Error(`TYPE: ${line}`);
      family.type = rest;
    } else readSample(line, families.at(-1));
  }
  return families;
}

/**
 * Every series of a text as the collector writes it.
 *
 * Errors: throws as `parsePrometheus`, at no text, at what is no gauge, and at a series that stands there twice.
 */
export function gaugesOf(text: string): Series[] {
  const families = parsePrometheus(text);
  if (text === "" || families.some(({ type }) => type !== "gauge")) throw new Error("not only gauges");
  const series = families.flatMap(({ samples }) => samples);
  const keys = series.map(({ name, labels }) => JSON.stringify([name, labels]));
  if (new Set(keys).size !== keys.length) throw new Error("a series stands there twice");
  return series;
}

function readSample(line: string, family: ParsedFamily | undefined): void {
  const [, name = "", pairs = "", number = ""] = SAMPLE.exec(line) ?? [];
  const suffix = family?.type === "histogram" ? "(_bucket|_sum|_count)" : "";
  if (family === undefined || !new RegExp(`^${family.name}${suffix}$`).test(name) || !NUMBER.test(number))
    throw new Error(`Sample: ${line}`);
  const labels: [string, string][] = [];
  PAIR.lastIndex = 0;
  while (PAIR.lastIndex < pairs.length) {
    const pair = PAIR.exec(pairs);
    if (pair === null) throw new Error(`Labels: ${line}`);
    labels.push([pair[1]!, unescaped(pair[2]!, /\\([\\"n])/g)]);
    if (pair[3] === "") break;
  }
  family.samples.push({ name, labels: Object.fromEntries(labels), value: numberOf(number) });
}

function unescaped(text: string, pattern: RegExp): string {
  return text.replace(pattern, (_, sign) => (sign === "n" ? "\n" : sign));
}

function numberOf(text: string): number {
  return text.endsWith("Inf") ? Number(`${text}inity`) : Number(text);
}
