/** The texts that a source file writes, without running it. */

/** What stands in a text for a value that is put in. */
export const HOLE = "\u0000";

type Token = { kind: "text" | "word" | "sign"; value: string };

/** The string and template literals of a TypeScript source, those that `+` joins as one, with a hole for each value. */
export function textsIn(source: string): string[] {
  return joined(tokensIn(source));
}

/** Joins `"a" + "b"`; what else is added to a text is a hole. */
function joined(tokens: readonly Token[]): string[] {
  const texts: string[] = [];
  tokens.forEach((token, at) => {
    if (token.kind !== "text") return;
    const [before, plus] = [tokens[at - 2], tokens[at - 1]];
    const isAdded = plus?.value === "+";
    const last = texts.pop();
    if (isAdded && before?.kind === "text" && last !== undefined) texts.push(last + token.value);
    else {
      if (last !== undefined) texts.push(last);
      texts.push(isAdded ? HOLE + token.value : token.value);
    }
    const next = tokens[at + 2];
    if (tokens[at + 1]?.value === "+" && next?.kind !== "text") texts.push(texts.pop() + HOLE);
  });
  return texts;
}

function tokensIn(source: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < source.length) {
    const rest = source.slice(at, at + 2);
    const char = source[at] as string;
    if (rest === "//") at = indexOr(source, "\n", at);
    else if (rest === "/*") at = indexOr(source, "*/", at) + 2;
    else if (char === '"' || char === "'") at = quoted(source, at, tokens);
    else if (char === "`") at = template(source, at, tokens);
    else if (char === "/" && isPattern(tokens.at(-1))) at = pattern(source, at, tokens);
    else if (/[\w$#@]/.test(char)) at = word(source, at, tokens);
    else {
      if (!/\s/.test(char)) tokens.push({ kind: "sign", value: char });
      at += 1;
    }
  }
  return tokens;
}

function indexOr(source: string, text: string, from: number): number {
  const found = source.indexOf(text, from);
  return found === -1 ? source.length : found;
}

function word(source: string, at: number, tokens: Token[]): number {
  const [value = ""] = /^[\w$#@]+/.exec(source.slice(at, at + 200)) ?? [];
  tokens.push({ kind: "word", value });
  return at + value.length;
}

function quoted(source: string, at: number, tokens: Token[]): number {
  let end = at + 1;
  while (source[end] !== source[at]) end += source[end] === "\\" ? 2 : 1;
  tokens.push({ kind: "text", value: unescaped(source.slice(at + 1, end)) });
  return end + 1;
}

/** The texts in the values of a template come before it. */
function template(source: string, at: number, tokens: Token[]): number {
  let [end, text] = [at + 1, ""];
  while (source[end] !== "`") {
    if (source.startsWith("${", end)) {
      const close = closing(source, end + 2);
      tokens.push({ kind: "sign", value: "(" }, ...tokensIn(source.slice(end + 2, close)));
      tokens.push({ kind: "sign", value: ")" });
      [end, text] = [close + 1, text + HOLE];
    } else {
      const length = source[end] === "\\" ? 2 : 1;
      [end, text] = [end + length, text + unescaped(source.slice(end, end + length))];
    }
  }
  tokens.push({ kind: "text", value: text });
  return end + 1;
}

/** Where the value that begins here ends: strings and templates in it may hold braces. */
function closing(source: string, from: number): number {
  let [at, depth] = [from, 0];
  const skipped: Token[] = [];
  while (source[at] !== "}" || depth > 0) {
    const char = source[at];
    if (char === '"' || char === "'") at = quoted(source, at, skipped);
    else if (char === "`") at = template(source, at, skipped);
    else {
      depth += char === "{" ? 1 : char === "}" ? -1 : 0;
      at += 1;
    }
  }
  return at;
}

/** After a value a slash divides; elsewhere it begins a pattern. */
function isPattern(before: Token | undefined): boolean {
  if (before === undefined) return true;
  if (before.kind === "sign") return !")]}".includes(before.value);
  return before.kind === "word" && ["return", "case", "typeof"].includes(before.value);
}

function pattern(source: string, at: number, tokens: Token[]): number {
  let [end, isInClass] = [at + 1, false];
  while (source[end] !== "/" || isInClass) {
    if (source[end] === "[") isInClass = true;
    if (source[end] === "]") isInClass = false;
    end += source[end] === "\\" ? 2 : 1;
  }
  tokens.push({ kind: "word", value: "pattern" });
  return end + 1;
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(.)/gs, (_all, char: string) => (char === "n" ? "\n" : char));
}
