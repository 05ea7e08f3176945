import process from "node:process";
import { wrapText } from "../../lib/text/wrap.ts";
import type { Command, Group } from "../framework/command.ts";
import { findEntry } from "../framework/tree.ts";
import type { Option } from "./options.ts";

/** In a file or a pipe, where help is the same everywhere. */
const WIDTH = 80;
const NARROWEST = 40;
/** Longer lines are hard to read. */
const WIDEST = 100;
/** A word that is longer has its explanation below it. */
const LONGEST_WORD = 28;
/** Where less is left beside the words, all explanations are below them. */
const NARROWEST_EXPLANATION = 30;
const INDENT = "  ";

/** A word and its explanation. */
export type Row = readonly [string, string];

const HELP: Row = ["--help", "Show this help"];
const VERSION_ROW: Row = ["--version", "Show version and commit"];

/**
 * Prints help or the version.
 *
 * Behaviour: does not report a failed write: nothing was done, so nothing is lost. Loading `node:fs`, which would
 *            report it, takes a third of the whole time.
 */
export function printHelp(text: string): void {
  // biome-ignore lint/suspicious/noConsole: see above
  console.log(text.trimEnd());
}

/**
 * The help of the command or group that the words name, in lines of the terminal's width.
 *
 * Behaviour: words after the command or group are ignored. Of a group no command is loaded.
 */
export async function helpOf(program: Group, words: readonly string[]): Promise<string> {
  const { path, entry } = findEntry(program, words);
  const width = await helpWidth("stdout");
  if ("load" in entry) return commandHelp(path, entry.description, await entry.load(), width);
  return groupHelp(path, entry, width);
}

function groupHelp(path: string, { description, commands }: Group, width: number): string {
  const rows = Object.entries(commands).map(([name, entry]): Row => [name, entry.description]);
  const more = `Run \`${path} <command> --help\` for the options of a command and an example.`;
  return lines(
    ...wrapText(description, width, INDENT),
    "",
    `Usage: ${usageLines([path, "<command>", "[options]"], width)}`,
    ...section("Commands:", rows, width),
    ...section("Options:", path === "opsctl" ? [HELP, VERSION_ROW] : [HELP], width),
    "",
    ...wrapText(more, width, INDENT),
  );
}

function commandHelp(path: string, description: string, command: Command, width: number): string {
  const { args, notes, example } = command;
  const all = Object.entries(args);
  const words = all.filter(([, { type }]) => type === "positional");
  const options = all.filter(([, { type }]) => type !== "positional");
  const paragraphs = notes === undefined ? [] : ["", ...notes.split("\n")];
  return lines(
    ...wrapText(description, width, INDENT),
    ...paragraphs.flatMap((paragraph) => wrapText(paragraph, width, INDENT)),
    "",
    `Usage: ${usageOf(path, command, width)}`,
    ...section(
      "Arguments:",
      words.map(([name, arg]) => [wordText(name, arg), arg.description ?? ""]),
      width,
    ),
    ...section("Options:", [...options.map(([name, arg]) => optionRow(name, arg)), HELP], width),
    "",
    "Example:",
    // It is copied, and so never broken.
    `  ${example}`,
  );
}

/** How a command is called, without the word "Usage" before it, on as many lines as it needs. */
export function usageOf(path: string, { args, isVariadic }: Command, width: number): string {
  const parts = Object.entries(args).map(([name, arg]) => {
    if (arg.type === "positional") return `${wordText(name, arg)}${isVariadic ? "…" : ""}`;
    return arg.required ? optionText(name, arg) : `[${optionText(name, arg)}]`;
  });
  return usageLines([path, ...parts], width);
}

/** Parts in lines of the width; a part is never broken, and one that is longer has a line of its own. */
function usageLines(parts: readonly string[], width: number): string {
  const indent = " ".repeat("Usage: ".length);
  const joined: string[] = [];
  for (const part of parts) {
    const line = `${joined.at(-1)} ${part}`;
    if (joined.length > 0 && line.length <= width) joined[joined.length - 1] = line;
    else joined.push(indent + part);
  }
  return joined.join("\n").trimStart();
}

/** An option and its explanation. */
export function optionRow(name: string, arg: Option): Row {
  const notes = [arg.required ? "required" : "", arg.default === undefined ? "" : `default ${arg.default}`];
  const note = notes.filter(Boolean).join(", ");
  return [optionText(name, arg), `${arg.description ?? ""}${note === "" ? "" : ` (${note})`}`];
}

function optionText(name: string, arg: Option): string {
  if (arg.type === "boolean") return `--${name}`;
  return `--${name} <${arg.type === "enum" ? arg.options?.join("|") : (arg.valueHint ?? "value")}>`;
}

/** A positional argument as usage shows it. */
export function wordText(name: string, arg: Option): string {
  return arg.required === false ? `[${name}]` : `<${name}>`;
}

function section(title: string, rows: readonly Row[], width: number): string[] {
  return rows.length === 0 ? [] : ["", title, ...columns(rows, width)];
}

function columns(rows: readonly Row[], width: number): string[] {
  const longest = Math.max(...rows.map(([left]) => (left.length > LONGEST_WORD ? 0 : left.length)));
  const beside = longest + 2 * INDENT.length;
  const isNarrow = width - beside < NARROWEST_EXPLANATION;
  const indent = isNarrow ? INDENT.repeat(3) : " ".repeat(beside);
  return rows.flatMap(([left, right]) => {
    const text = wrapText(right, width - indent.length).map((line) => `${indent}${line}`.trimEnd());
    if (isNarrow || left.length > longest) return [INDENT + left, ...text.filter((line) => line !== "")];
    const [first = "", ...rest] = text;
    return [`${INDENT}${left.padEnd(longest)}${INDENT}${first.trimStart()}`.trimEnd(), ...rest];
  });
}

function lines(...texts: string[]): string {
  return `${texts.join("\n")}\n`;
}

/**
 * How many columns help takes: those of the terminal, within limits; `COLUMNS` wins.
 *
 * Behaviour: a terminal is only asked where `TERM` names one: loading `node:tty` takes as long as the rest of help.
 */
export async function helpWidth(to: "stdout" | "stderr"): Promise<number> {
  const { COLUMNS = "", TERM = "" } = process.env;
  const isGiven = /^[1-9][0-9]{0,4}$/.test(COLUMNS);
  const columns = isGiven ? Number(COLUMNS) : TERM === "" ? null : await terminalColumns(to);
  return columns === null ? WIDTH : Math.min(WIDEST, Math.max(NARROWEST, columns));
}

async function terminalColumns(to: "stdout" | "stderr"): Promise<number | null> {
  const { isatty } = await import("node:tty");
  return isatty(to === "stdout" ? 1 : 2) ? process[to].columns || null : null;
}
