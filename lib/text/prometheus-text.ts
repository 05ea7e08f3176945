/** One sample of a family; `suffix` is what a histogram's parts add to its name. */
export type MetricSample = {
  value: number;
  labels?: Readonly<Record<string, string>>;
  suffix?: "_bucket" | "_sum" | "_count";
};

/** The samples of one name, and what they mean. */
export type MetricFamily = {
  name: string;
  help: string;
  type: "counter" | "gauge" | "histogram";
  samples: readonly MetricSample[];
};

/**
 * The families in Prometheus' text format, version 0.0.4: HELP and TYPE once above the samples of each.
 *
 * Shape:  ends with a line feed. A family without samples keeps its two lines. The caller must give valid names.
 * Source: Prometheus, Exposition formats, Text format details, read 2026-11-21.
 */
export function renderMetrics(families: readonly MetricFamily[]): string {
  return families.map(renderFamily).join("");
}

function renderFamily({ name, help, type, samples }: MetricFamily): string {
  const head = `# HELP ${name} ${escaped(help, /[\\\n]/g)}\n# TYPE ${name} ${type}\n`;
  const lines = samples.map(
    ({ value, labels = {}, suffix = "" }) =>
      `${name}${suffix}${renderLabels(labels)} ${renderNumber(value)}\n`,
  );
  return head + lines.join("");
}

function renderLabels(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value, /[\\\n"]/g)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escaped(text: string, special: RegExp): string {
  // Half of a surrogate pair cannot be written in UTF-8.
  return text.toWellFormed().replace(special, (sign) => (sign === "\n" ? "\\n" : `\\${sign}`));
}

function renderNumber(value: number): string {
  return String(value)
    .replace(/^Infinity$/, "+Inf")
    .replace(/^-Infinity$/, "-Inf");
}
