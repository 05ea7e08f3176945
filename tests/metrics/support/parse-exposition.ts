/** A strict reader of the text format, written from its description and not from the writer. */

/** One series: its name, labels and value. */
export type Series = { name: string; labels: Record<string, string>; value: number };

/** What a text holds; throws at whatever an agent would refuse, and at a name whose lines do not stand together. */
export function parseExposition(text: string): Series[] {
  if (!text.endsWith("\n")) throw new Error("the last line has no end");
  const series: Series[] = [];
  const heads = new Map<string, string[]>();
  let current = "";
  for (const line of text.slice(0, -1).split("\n")) {
    const [, kind, named, rest] = /^# (HELP|TYPE) ([a-zA-Z_][a-zA-Z0-9_]*) (.+)$/.exec(line) ?? [];
    if (kind !== undefined && named !== undefined) {
      const seen = heads.get(named) ?? [];
      if (seen.includes(kind) || (named !== current && seen.length > 0))
        throw new Error(`a second ${kind}: ${line}`);
      if (kind === "TYPE" && rest !== "gauge") throw new Error(`not a gauge: ${line}`);
      heads.set(named, [...seen, kind]);
      current = named;
      continue;
    }
    const sample = readSample(line);
    if (sample.name !== current || heads.get(current)?.join() !== "HELP,TYPE")
      throw new Error(`no heading: ${line}`);
    series.push(sample);
  }
  const keys = series.map(({ name, labels }) => JSON.stringify([name, labels]));
  if (new Set(keys).size !== keys.length) throw new Error("a series stands there twice");
  return series;
}

function readSample(line: string): Series {
  const [, name, , inside, value] = /^([a-zA-Z_][a-zA-Z0-9_]*)(\{(.*)\})? ([-+0-9.eE]+)$/.exec(line) ?? [];
  if (name === undefined || value === undefined || Number.isNaN(Number(value)))
    throw new Error(`not a sample: ${line}`);
  const labels: Record<string, string> = {};
  let rest = inside ?? "";
  while (rest !== "") {
    const [whole, label, text] =
      /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\\\|\\"|\\n)*)"(?:,|$)/.exec(rest) ?? [];
    if (whole === undefined || label === undefined || text === undefined)
      throw new Error(`not a label: ${line}`);
    labels[label] = text.replace(/\\(.)/g, (_all, sign) => (sign === "n" ? "\n" : sign));
    rest = rest.slice(whole.length);
  }
  return { name, labels, value: Number(value) };
}
