/**
 * `bun .ci/manual.ts <folder>` writes the man pages to `<folder>/man` and the completion scripts to `<folder>/completions`,
 * in place of what is there. The bytes depend only on the sources and on SOURCE_DATE_EPOCH.
 */
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nameOf, type Row, rowOf } from "../cli/args/help.ts";
import { namesOf, type Option } from "../cli/args/options.ts";
import { codes } from "../cli/commands/static/explain.ts";
import type { Command, Group } from "../cli/framework/command.ts";
import { VERSION } from "../cli/framework/version.ts";
import { root } from "../cli/root.ts";
import { commandFile, DEFAULT_ENV_DIR } from "../lib/platform/config/settings-table.ts";
import { wrapText } from "../lib/text/wrap.ts";

/** A man page: the words of its command, and the text of the file. */
export type ManPage = { path: string; text: string };

/** A heading and the lines of roff below it; left out where there is none. */
type Section = readonly [string, readonly string[]];

const WIDTH = 80;
const SETTINGS =
  "The settings of the command, below those of the environment. `OPSCTL_ENV_DIR` names another directory.";
/** The completion scripts, by the names under which the shells look for them. */
const COMPLETIONS = { "opsctl.bash": "opsctl.bash", "opsctl.zsh": "_opsctl", "opsctl.fish": "opsctl.fish" };

/** The pages of a group and of every command in it, in the order of the tree; `date` is `YYYY-MM-DD`. */
export async function manPages(path: string, group: Group, date: string): Promise<ManPage[]> {
  const pages = [page(path, group.description, date, groupSections(path, group))];
  for (const [name, entry] of Object.entries(group.commands)) {
    const [own, { description }] = [`${path} ${name}`, entry];
    if (!("load" in entry)) pages.push(...(await manPages(own, entry, date)));
    else pages.push(page(own, description, date, commandSections(own, description, await entry.load())));
  }
  return pages;
}

/** `opsctl-webhook-serve` for `opsctl webhook serve`. */
export function pageName(path: string): string {
  return path.replaceAll(" ", "-");
}

function groupSections(path: string, { commands }: Group): Section[] {
  const rows = Object.entries(commands).map(([name, { description }]): Row => {
    return [bold(name), `${description}; see ${pageName(`${path} ${name}`)}(1)`];
  });
  return [
    ["SYNOPSIS", [`${bold(path)} ${italic("command")} [${italic("options")}]`]],
    ["COMMANDS", entries(rows)],
    ["OPTIONS", options(path === "opsctl" ? [["--version", "Show version and commit"]] : [])],
    ["EXIT STATUS", exitStatus()],
    ["SEE ALSO", seeAlso(path)],
  ];
}

function commandSections(path: string, description: string, command: Command): Section[] {
  const { args, notes = "", example, isVariadic } = command;
  const words = namesOf("positional", args).map((name): Row => [italic(name), args[name]?.description ?? ""]);
  const named = namesOf("option", args).map((name) => rowOf(name, args[name] as Option));
  const usage = Object.entries(args).map(([name, arg]) => {
    if (arg.type === "positional") return `${roff(nameOf(name, arg))}${isVariadic ? " ..." : ""}`;
    const option = optionHead(nameOf(name, arg));
    return arg.required ? option : `[${option}]`;
  });
  const file = commandFile(path.slice("opsctl ".length));
  return [
    ["SYNOPSIS", [".ad l", ".nh", [bold(path), ...usage].join("\n"), ".hy", ".ad b"]],
    ["DESCRIPTION", [sentence(description), ...notes.split("\n")].filter(Boolean).map(roffLines)],
    ["ARGUMENTS", entries(words)],
    ["OPTIONS", options(named)],
    ["FILES", file === null ? [] : entries([[italic(`${DEFAULT_ENV_DIR}/${file}`), SETTINGS]])],
    ["EXIT STATUS", exitStatus()],
    ["EXAMPLES", [".EX", roff(example), ".EE"]],
    ["SEE ALSO", seeAlso(path)],
  ];
}

function page(path: string, description: string, date: string, sections: readonly Section[]): ManPage {
  const name = pageName(path);
  const lines = [
    '.\\" Generated from the command tree by make man; edit the tree instead.',
    `.TH ${roff(name.toUpperCase())} 1 ${date} "opsctl ${VERSION}" "opsctl"`,
    ".SH NAME",
    `${roff(name)} \\- ${roffProse(description)}`,
    ...sections.flatMap(([title, body]) => (body.length === 0 ? [] : [`.SH ${title}`, ...body])),
  ];
  return { path, text: `${lines.join("\n")}\n` };
}

function entries(rows: readonly Row[]): string[] {
  return rows.flatMap(([head, text]) => [".TP", head, roffLines(text)]);
}

function options(rows: readonly Row[]): string[] {
  const all: readonly Row[] = [...rows, ["--help", "Show the help"]];
  return entries(all.map(([option, text]) => [optionHead(option), text]));
}

/** `--limit <n>` with the option in bold and its value in italics. */
function optionHead(option: string): string {
  const [name = "", value] = option.split(/ <|>$/);
  return value === undefined ? bold(name) : `${bold(name)} ${italic(value)}`;
}

function exitStatus(): string[] {
  const statuses = ["0", "1", "2", "3", "4"];
  return entries(statuses.map((status) => [bold(status), sentence(codes.explain(status)[0]?.meaning ?? "")]));
}

/** The groups above a command or group. */
function seeAlso(path: string): string[] {
  const above = path.split(" ").map((_word, at, words) => words.slice(0, at).join(" "));
  const pages = above.filter(Boolean).map((name) => `${bold(pageName(name))}(1)`);
  return pages.length === 0 ? [] : [pages.join(",\n")];
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?)]$/.test(text) ? "" : "."}`;
}

const ESCAPES = { "\\": "\\e", "-": "\\-", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti" };

/** Plain text as roff prints it: nothing in it is a macro, every hyphen can be copied into a terminal. */
export function roff(text: string): string {
  const hex = (character: string) => character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0");
  return text
    .replace(/[\\\-'`^~]|[^\n -~]/gu, (character) => ESCAPES[character as "-"] ?? `\\[u${hex(character)}]`)
    .replace(/^\./gm, "\\&.");
}

/** Prose of help texts in lines of 80 characters: a text between backticks is bold, and no line begins like a macro. */
export function roffLines(text: string): string {
  const lines = wrapText(roffProse(text), WIDTH - "\\&".length);
  return lines.map((line) => line.replace(/^\./, "\\&.")).join("\n");
}

function roffProse(text: string): string {
  return text
    .split(/`([^`\n]+)`/)
    .map((part, at) => (at % 2 === 0 ? roff(part) : bold(part)))
    .join("");
}

function bold(text: string): string {
  return `\\fB${roff(text)}\\fR`;
}

function italic(text: string): string {
  return `\\fI${roff(text)}\\fR`;
}

if (import.meta.main) {
  const [folder = "dist"] = process.argv.slice(2);
  const date = new Date(Number(process.env.SOURCE_DATE_EPOCH ?? 0) * 1000).toISOString().slice(0, 10);
  const [man, completions] = [join(folder, "man"), join(folder, "completions")];
  for (const path of [man, completions]) {
    rmSync(path, { recursive: true, force: true });
    mkdirSync(path, { recursive: true });
  }
  for (const { path, text } of await manPages("opsctl", root, date))
    writeFileSync(join(man, `${pageName(path)}.1`), text);
  const scripts = join(import.meta.dirname, "../cli/completion/scripts");
  for (const [source, name] of Object.entries(COMPLETIONS))
    copyFileSync(join(scripts, source), join(completions, name));
}
