/** A line that a shell and opsctl read differently, or that sets nothing; `problem` follows "line 3" in a text. */
export type EnvFileFault = { line: number; problem: string };

/** What a file says; `repeated` are names that it gives two values or more, of which the last counts. */
export type EnvFile = { variables: Map<string, string>; faults: EnvFileFault[]; repeated: string[] };

const ASSIGNMENT = /^([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)$/s;
const NO_ASSIGNMENT = "is not NAME=value";
const EXPANDS =
  "holds $, ` or \\ outside of single quotes, which a shell would replace: put the value in single quotes";
const OPEN_QUOTE = "opens a quote that it does not close at its end";

/**
 * The variables of an environment file: `NAME=value`, one a line; nothing is run or expanded.
 *
 * Behaviour: blank lines and lines that begin with `#` or `;` are skipped. A value may be bare (blanks around it are
 *            dropped), in single or in double quotes. When a name comes twice, the last counts; an empty value above
 *            another one, as in a sample, is no repetition. The variable of a faulty line is read where it can be. A
 *            fault never quotes its line, which may hold a secret.
 * Units:     the first line is 1.
 */
export function readEnvFile(text: string): EnvFile {
  const variables = new Map<string, string>();
  const faults: EnvFileFault[] = [];
  const repeated = new Set<string>();
  const lines = text.replace(/^\uFEFF/, "").split(/\r\n|\r|\n/);
  for (const [at, line] of lines.map((one) => one.trim()).entries()) {
    if (line === "" || /^[#;]/.test(line)) continue;
    const [, name, written = ""] = ASSIGNMENT.exec(line) ?? [];
    const value = unquoted(written);
    const problem = name === undefined ? NO_ASSIGNMENT : problemOf(written, value);
    if (problem !== null) faults.push({ line: at + 1, problem });
    if (name === undefined || value === null) continue;
    const before = variables.get(name) ?? "";
    if (before !== "" && before !== value) repeated.add(name);
    variables.set(name, value);
  }
  return { variables, faults, repeated: [...repeated] };
}

/** The value without its quotes; null where they do not close. */
function unquoted(written: string): string | null {
  const [quote] = /^['"]/.exec(written) ?? [];
  if (quote === undefined) return written;
  const end = written.indexOf(quote, 1);
  return end === written.length - 1 && end > 0 ? written.slice(1, end) : null;
}

function problemOf(written: string, value: string | null): string | null {
  if (value === null) return OPEN_QUOTE;
  return !written.startsWith("'") && /[$`\\]/.test(value) ? EXPANDS : null;
}
