/**
 * What a word of a command line is.
 *
 * Shape: `rawName` is the option as it was written (`--week`), `name` without its dashes; `inlineValue` says whether
 *        the value stood behind `=`.
 */
export type Token =
  | { kind: "option"; name: string; rawName: string; value: string | undefined; inlineValue: boolean }
  | { kind: "positional"; value: string };

/**
 * Splits the words of a command line as `parseArgs` of `node:util` does, which takes a third of the start of a short
 * command to load.
 *
 * Behaviour: the word behind an option that `takesValue` is its value, whatever it looks like; behind `--` there are no
 *            options. Of `-abc` only `-a` is told: opsctl has no short options, so that it is a fault in any case.
 */
export function splitWords(words: readonly string[], takesValue: (name: string) => boolean): Token[] {
  const tokens: Token[] = [];
  const end = [...words.entries()].values();
  for (const [at, word] of end) {
    if (word === "--") return [...tokens, ...words.slice(at + 1).map(positional)];
    const token = tokenOf(word);
    if (token.kind === "option" && !token.inlineValue && takesValue(token.name))
      token.value = end.next().value?.[1];
    tokens.push(token);
  }
  return tokens;
}

function tokenOf(word: string): Token {
  if (!word.startsWith("-") || word === "-") return positional(word);
  if (!word.startsWith("--")) return option(`-${[...word][1]}`, undefined);
  // A name has a character at least, so that `--=x` is an option of that name.
  const equals = word.indexOf("=", "--".length + 1);
  return equals === -1 ? option(word, undefined) : option(word.slice(0, equals), word.slice(equals + 1));
}

function option(rawName: string, value: string | undefined): Token {
  const name = rawName.replace(/^--?/, "");
  return { kind: "option", name, rawName, value, inlineValue: value !== undefined };
}

function positional(value: string): Token {
  return { kind: "positional", value };
}
