/**
 * The variables of an environment file, parsed like systemd's `EnvironmentFile=`; nothing is run or expanded.
 *
 * Behaviour: blank lines and lines that begin with `#` or `;` are skipped; a value may be in single quotes (kept
 *            unchanged), in double quotes (`\` before `"`, `\`, `` ` `` and `$`) or bare (`\` before any character,
 *            blanks around it dropped); `\` at the end of a line joins it with the next. When a name comes twice, the
 *            last counts. A line that is no assignment is skipped. Unlike in systemd, the name behind a leading
 *            `export` is read, for a caller that has to see it; `readEnvFile` calls such a line a fault, and no command
 *            starts with one.
 * Source:    systemd src/basic/env-file.c, parse_env_file_internal and check_utf8ness_and_warn, as of v254.
 */
export function parseEnvFile(text: string): Map<string, string> {
  return readEnvFile(text).variables;
}

/** A line that a shell and opsctl read differently, or that sets nothing; `problem` follows "line 3" in a text. */
export type EnvFileFault = { line: number; problem: string };

/** What a file says; `repeated` are names that it gives two values or more, of which the last counts. */
export type EnvFile = { variables: Map<string, string>; faults: EnvFileFault[]; repeated: string[] };

/**
 * What `parseEnvFile` returns, with the lines that only a shell understands, those that set nothing, and what is set
 * twice. An empty setting of a sample, above the one that a person has added, does not count.
 *
 * Behaviour: a fault never quotes its line, which may hold a secret.
 * Units:     the first line is 1.
 */
export function readEnvFile(text: string): EnvFile {
  const variables = new Map<string, string>();
  const repeated = new Set<string>();
  const reader = new Reader(text.replace(/^\uFEFF/, ""));
  while (!reader.isAtEnd) {
    const assignment = readAssignment(reader);
    if (assignment === null || !NAME.test(assignment.name)) continue;
    const { name, value } = assignment;
    const before = variables.get(name) ?? "";
    if (before !== "" && before !== value) repeated.add(name);
    variables.set(name, value);
  }
  return { variables, faults: reader.faults, repeated: [...repeated] };
}

const NO_ASSIGNMENT = "is not NAME=value";
const EXPORTS = "begins with export, a word of a shell: write NAME=value";
const EXPANDS =
  "holds $ or ` outside of single quotes, which a shell would replace: put the value in single quotes";
const OPEN_QUOTE = "opens a quote that no line closes";

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const BLANK = /[ \t\r\n]/;
/** The characters that a backslash escapes inside double quotes. */
const QUOTED_ESCAPES = '"\\`$';
/** The characters at which a shell puts something else into a value. */
const EXPANDED = "$`";

class Reader {
  readonly faults: EnvFileFault[] = [];
  readonly #text: string;
  #at = 0;
  #line = 1;

  constructor(text: string) {
    this.#text = text.replaceAll(/\r\n?/g, "\n");
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  /** The line of the next character. */
  get line(): number {
    return this.#line;
  }

  next(): string | undefined {
    const c = this.#text[this.#at++];
    if (c === "\n") this.#line += 1;
    return c;
  }

  /** Notes a fault, one for each line. */
  fault(line: number, problem: string): void {
    if (this.faults.at(-1)?.line !== line) this.faults.push({ line, problem });
  }

  restOfLine(): string {
    const end = this.#text.indexOf("\n", this.#at);
    const line = this.#text.slice(this.#at, end === -1 ? undefined : end);
    this.#at = end === -1 ? this.#text.length : end + 1;
    this.#line += 1;
    return line;
  }
}

function readAssignment(reader: Reader): { name: string; value: string } | null {
  let first = reader.next();
  while (first !== undefined && BLANK.test(first)) first = reader.next();
  if (first === undefined) return null;
  const { line } = reader;
  if (first === "#" || first === ";") {
    reader.restOfLine();
    return null;
  }
  let name = first === "=" ? "" : first;
  if (first !== "=") {
    for (let c = reader.next(); c !== "="; c = reader.next()) {
      if (c === undefined || c === "\n") {
        reader.fault(line, NO_ASSIGNMENT);
        return null;
      }
      name += c;
    }
  }
  const bare = name.trimEnd().replace(/^export\s+/, "");
  if (!NAME.test(bare)) reader.fault(line, NO_ASSIGNMENT);
  else if (bare !== name.trimEnd()) reader.fault(line, EXPORTS);
  return { name: bare, value: readValue(reader) };
}

// Quoted pieces may follow each other; after the first bare character a quote is an ordinary character.
function readValue(reader: Reader): string {
  let value = "";
  for (let c = reader.next(); c !== undefined && c !== "\n"; c = reader.next()) {
    if (c === "'") value += readSingleQuoted(reader);
    else if (c === '"') value += readDoubleQuoted(reader);
    else if (!BLANK.test(c)) return value + readBare(reader, c);
  }
  return value;
}

function readBare(reader: Reader, first: string): string {
  let value = "";
  let kept = 0;
  for (let c: string | undefined = first; c !== undefined && c !== "\n"; c = reader.next()) {
    const escaped = c === "\\" ? reader.next() : undefined;
    if (c === "\\" && (escaped === undefined || escaped === "\n")) continue;
    if (escaped === undefined && EXPANDED.includes(c)) reader.fault(reader.line, EXPANDS);
    value += escaped ?? c;
    // Blanks at the end are dropped, unless they are escaped.
    if (escaped !== undefined || !BLANK.test(c)) kept = value.length;
  }
  return value.slice(0, kept);
}

function readSingleQuoted(reader: Reader): string {
  const { line } = reader;
  let value = "";
  for (let c = reader.next(); c !== "'"; c = reader.next()) {
    if (c === undefined) return endOfOpenQuote(reader, line, value);
    value += c;
  }
  return value;
}

function endOfOpenQuote(reader: Reader, line: number, value: string): string {
  reader.fault(line, OPEN_QUOTE);
  return value;
}

function readDoubleQuoted(reader: Reader): string {
  const { line } = reader;
  let value = "";
  for (let c = reader.next(); c !== '"'; c = reader.next()) {
    if (c === undefined) return endOfOpenQuote(reader, line, value);
    if (c !== "\\") {
      if (EXPANDED.includes(c)) reader.fault(reader.line, EXPANDS);
      value += c;
      continue;
    }
    const escaped = reader.next();
    if (escaped === undefined || escaped === "\n") continue;
    value += QUOTED_ESCAPES.includes(escaped) ? escaped : `\\${escaped}`;
  }
  return value;
}
