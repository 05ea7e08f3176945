/** README, CONTRIBUTING, SECURITY and the pages of `docs/`, taken apart for the tests that hold them to the program. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The folder of the sources. */
export const ROOT = join(import.meta.dirname, "../..");

/** A document by its path from the root; `blocks` are its blocks of code, `prose` is the text without them. */
export type Page = { path: string; text: string; prose: string; blocks: Block[] };

/** A block of code, with the word behind its fence. */
export type Block = { language: string; lines: string[] };

const TOP = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"];

/** Every document. */
export const PAGES: readonly Page[] = [...TOP, ...pagesOf("docs")].map((path) =>
  pageOf(path, readFileSync(join(ROOT, path), "utf8")),
);

/** The document of that path. */
export function page(path: string): Page {
  const found = PAGES.find((each) => each.path === path);
  if (found === undefined) throw new Error(`There is no ${path}`);
  return found;
}

function pagesOf(folder: string): string[] {
  return readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `${folder}/${name}`);
}

/** Takes a page apart; a block is fenced, also inside a list, or indented by four blanks. */
export function pageOf(path: string, text: string): Page {
  const prose: string[] = [];
  const blocks: Block[] = [];
  let open: Block | undefined;
  for (const line of text.split("\n")) {
    const fence = /^ *```(\w*)$/.exec(line);
    if (fence && open) open = undefined;
    else if (fence) {
      open = { language: fence[1]!, lines: [] };
      blocks.push(open);
    } else if (open) open.lines.push(line.trimEnd());
    else if (/^ {4}/.test(line)) blocks.push({ language: "", lines: [line.trim()] });
    else prose.push(line);
  }
  return { path, text, prose: prose.join("\n"), blocks };
}

/** What stands between backticks in the prose. */
export function inlineCode({ prose }: Page): string[] {
  return [...prose.matchAll(/`([^`\n]+)`/g)].map(([, code]) => code!);
}

/** The targets of the links and pictures of a page. */
export function linksOf({ prose }: Page): string[] {
  const outsideCode = prose.replaceAll(/`[^`\n]*`/g, "``");
  const links = [...outsideCode.matchAll(/\]\(([^)\s]+)\)/g), ...prose.matchAll(/\bsrc="([^"]+)"/g)];
  return links.map(([, target]) => target!);
}

/** The anchors that the headings of a page make on the forge: lower case, no punctuation, a number for a repetition. */
export function anchorsOf({ prose }: Page): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading] of prose.matchAll(/^#{1,6} +(.+)$/gm)) {
    const plain = heading!.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
    const slug = plain.replaceAll(/[^\p{L}\p{N}\s_-]/gu, "").replaceAll(/\s/gu, "-");
    let name = slug;
    for (let count = 1; anchors.has(name); count += 1) name = `${slug}-${count}`;
    anchors.add(name);
  }
  return anchors;
}

/** The commands that a line of a shell runs, each as its words: assignments, `sudo` and the like are taken away. */
export function commandsIn(line: string): string[][] {
  const commands: string[][] = [[]];
  for (const word of shellWords(line)) {
    if (SEPARATORS.has(word.text) && !word.isQuoted) commands.push([]);
    else if (word.isQuoted && commands.at(-1)!.at(-1) === "-c") commands.push(...commandsIn(word.text), []);
    else commands.at(-1)!.push(word.text);
  }
  return commands.map(withoutPrefix).filter((words) => words.length > 0);
}

type Word = { text: string; isQuoted: boolean };

const SEPARATORS = new Set(["&&", "||", "|", ";"]);
const PREFIX = /^(?:\$|sudo|exec|[A-Za-z_]+=.*)$/;

function shellWords(line: string): Word[] {
  const words: Word[] = [];
  for (const [whole, single, double, bare] of line.matchAll(
    /'([^']*)'|"([^"]*)"|(#.*$|;|(?:[^\s'";]|(?<==)'[^']*')+)/g,
  )) {
    if (bare?.startsWith("#")) break;
    words.push({ text: single ?? double ?? bare ?? whole, isQuoted: bare === undefined });
  }
  return words;
}

function withoutPrefix(words: string[]): string[] {
  const rest = words[0] === "runuser" ? words.slice(words.indexOf("--") + 1) : [...words];
  while (rest[0] !== undefined && PREFIX.test(rest[0])) {
    const started = /^ExecStart=(.+)$/.exec(rest[0])?.[1];
    if (started === undefined) rest.shift();
    else rest[0] = started;
  }
  return rest;
}
