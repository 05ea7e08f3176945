/**
 * The variables of a file as systemd's `EnvironmentFile=` reads it.
 *
 * Shape:  `#` and `;` begin a comment line; `'` keeps everything, `"` knows `\"`, `\\`, `` \` `` and `\$`; quotes count
 *         at the beginning of a value and after other quotes only; a backslash before a line's end joins two lines; the
 *         last of several equal names wins. Nothing is ever expanded or run: `$(…)` is text. Beyond systemd, a leading
 *         `export` is tolerated. Lines without `=` and names that are none are passed over.
 * Source: systemd src/basic/env-file.c, parse_env_file_internal; systemd.exec(5), EnvironmentFile=.
 */
export function parseEnvFile(text: string): Map<string, string> {
  const found = new Map<string, string>();
  const scan: Scan = { name: "", value: "", trimFrom: null };
  let state: StateName = "beforeName";
  const take = () => {
    const name = scan.name.trim().replace(/^export\s+/, "");
    const value = scan.trimFrom === null ? scan.value : scan.value.slice(0, scan.trimFrom);
    if (NAME.test(name)) found.set(name, value);
  };
  for (const character of text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n")) {
    const next: StateName | "taken" = STATES[state](character, scan);
    if (next === "taken") take();
    if (next === "taken" || next === "beforeName")
      Object.assign(scan, { name: "", value: "", trimFrom: null });
    state = next === "taken" ? "beforeName" : next;
  }
  if (!WITHOUT_VALUE.includes(state)) take();
  return found;
}

/** What was read of the present line; `trimFrom` is where blanks that may be the value's last ones begin. */
type Scan = { name: string; value: string; trimFrom: number | null };

type StateName =
  | "beforeName"
  | "name"
  | "beforeValue"
  | "value"
  | "valueEscape"
  | "singleQuoted"
  | "doubleQuoted"
  | "doubleQuotedEscape"
  | "comment";

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const WITHOUT_VALUE: readonly StateName[] = ["beforeName", "name", "comment"];
const ESCAPED_IN_QUOTES = '"\\`$';

const isLineEnd = (character: string) => character === "\n" || character === "\r";
const isBlank = (character: string) => " \t\n\r".includes(character);

/** What each state makes of the next character; `taken` when the line is over and has a value. */
const STATES: Record<StateName, (character: string, scan: Scan) => StateName | "taken"> = {
  beforeName(character, scan) {
    if (character === "#" || character === ";") return "comment";
    if (isBlank(character)) return "beforeName";
    scan.name = character;
    return "name";
  },
  name(character, scan) {
    if (isLineEnd(character)) return "beforeName";
    if (character === "=") return "beforeValue";
    scan.name += character;
    return "name";
  },
  beforeValue(character, scan) {
    if (isLineEnd(character)) return "taken";
    if (character === "'") return "singleQuoted";
    if (character === '"') return "doubleQuoted";
    if (character === "\\") return "valueEscape";
    if (isBlank(character)) return "beforeValue";
    scan.value += character;
    return "value";
  },
  value(character, scan) {
    if (isLineEnd(character)) return "taken";
    if (!isBlank(character)) scan.trimFrom = null;
    else scan.trimFrom ??= scan.value.length;
    if (character === "\\") return "valueEscape";
    scan.value += character;
    return "value";
  },
  valueEscape(character, scan) {
    // The end of the line is joined to the next one.
    if (!isLineEnd(character)) scan.value += character;
    return "value";
  },
  singleQuoted(character, scan) {
    if (character === "'") return "beforeValue";
    scan.value += character;
    return "singleQuoted";
  },
  doubleQuoted(character, scan) {
    if (character === '"') return "beforeValue";
    if (character === "\\") return "doubleQuotedEscape";
    scan.value += character;
    return "doubleQuoted";
  },
  doubleQuotedEscape(character, scan) {
    if (ESCAPED_IN_QUOTES.includes(character)) scan.value += character;
    else if (character !== "\n") scan.value += `\\${character}`;
    return "doubleQuoted";
  },
  comment: (character) => (isLineEnd(character) ? "beforeName" : "comment"),
};
