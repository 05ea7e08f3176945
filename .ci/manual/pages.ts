import { nameOf, type Row, rowOf } from "../../cli/args/help.ts";
import { namesOf, type Option } from "../../cli/args/options.ts";
import { codes } from "../../cli/commands/static/explain.ts";
import type { Command, Group } from "../../cli/framework/command.ts";
import { VERSION } from "../../cli/framework/version.ts";
import { commandFile, DEFAULT_ENV_DIR } from "../../lib/platform/config/settings-table.ts";
import { wrapText } from "../../lib/text/wrap.ts";

/** A man page: the words of its command, and the text of the file. */
export type ManPage = { path: string; text: string };

/** A heading and the lines of roff below it; left out where there is none. */
type Section = readonly [string, readonly string[]];

const WIDTH = 80;
const SETTINGS =
  "The settings of the command, below those of the environment. `OPSCTL_ENV_DIR` names another directory.";
const ENVIRONMENT: readonly Row[] = [
  ["OPSCTL_ENV_DIR", "The directory of the settings files, instead of `/etc/opsctl`; empty: none is read."],
  ["OPSCTL_LOG_LEVEL", "The least important lines of the log: `debug`, `info`, `warn` or `error`."],
  ["NO_COLOR", "Not empty: no colours on a terminal."],
];

/** The pages of a group and of every command in it, in the order of the tree; `date` is `YYYY-MM-DD`. */
export async function manPages(path: string, group: Group, date: string): Promise<ManPage[]> {
  const pages = [page(path, group.description, date, groupSections(path, group))];
  for (const [name, entry] of Object.entries(group.commands)) {
    const own = `${path} ${name}`;
    if (!("load" in entry)) pages.push(...(await manPages(own, entry, date)));
    else {
      const { description } = entry;
      pages.push(page(own, description, date, commandSections(own, description, await entry.load())));
    }
  }
  return pages;
}

/** `opsctl-webhook-serve` for `opsctl webhook serve`. */
export function pageName(path: string): string {
  return path.replaceAll(" ", "-");
}

function groupSections(path: string, { commands }: Group): Section[] {
  const isTop = path === "opsctl";
  const rows = Object.entries(commands).map(([name, { description }]): Row => {
    return [bold(name), `${description}; see ${pageName(`${path} ${name}`)}(1)`];
  });
  return [
    ["SYNOPSIS", [`${bold(path)} ${italic("command")} [${italic("options")}]`]],
    ["COMMANDS", entries(rows)],
    ["OPTIONS", options(isTop ? [["--version", "Show version and commit"]] : [])],
    ["ENVIRONMENT", isTop ? entries(ENVIRONMENT.map(([name, text]) => [bold(name), text])) : []],
    ["EXIT STATUS", exitStatus()],
    [
      "SEE ALSO",
      seeAlso(
        path,
        Object.keys(commands).map((name) => `${path} ${name}`),
      ),
    ],
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
    ["SEE ALSO", seeAlso(path, [])],
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
  return entries(
    [...rows, ["--help", "Show the help"] as const].map(([option, text]) => [optionHead(option), text]),
  );
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

function seeAlso(path: string, below: readonly string[]): string[] {
  const above = path.split(" ").map((_word, at, words) => words.slice(0, at).join(" "));
  const pages = [...above.filter(Boolean), ...below].map((name) => `${bold(pageName(name))}(1)`);
  return pages.length === 0 ? [] : [pages.join(",\n")];
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?)]$/.test(text) ? "" : "."}`;
}

/** Plain text as roff prints it: nothing in it is a macro, every hyphen can be copied into a terminal. */
export function roff(text: string): string {
  const hex = (character: string) => character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0");
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll("'", "\\(aq")
    .replaceAll("`", "\\(ga")
    .replaceAll("^", "\\(ha")
    .replaceAll("~", "\\(ti")
    .replace(/[^\n -~]/gu, (character) => `\\[u${hex(character)}]`)
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
