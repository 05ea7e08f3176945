import process from "node:process";
import { wrapText } from "../../lib/text/wrap.ts";
import { type Command, findEntry, type Group } from "../framework/command.ts";
import { type Option, optionNames, positionalNames } from "./options.ts";

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
const NO_BREAK = "\u00A0";

/** A word and its explanation. */
export type Row = readonly [string, string];

const HELP: Row = ["--help", "Show this help"];
const VERSION: Row = ["--version", "Show version and commit"];

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
    `\nUsage: ${usageLines([path, "<command>", "[options]"], width)}`,
    ...section("Commands:", rows, width),
    ...section("Options:", path === "opsctl" ? [HELP, VERSION] : [HELP], width),
    "",
    ...wrapText(more, width, INDENT),
  );
}

function commandHelp(path: string, description: string, command: Command, width: number): string {
  const { args, notes, example } = command;
  const paragraphs = notes === undefined ? [] : ["", ...notes.split("\n")];
  const words = positionalNames(args).map(
    (name): Row => [wordText(name, args[name]!), args[name]!.description ?? ""],
  );
  const options = optionNames(args).map((name) => optionRow(name, args[name]!));
  return lines(
    ...[description, ...paragraphs].flatMap((paragraph) => wrapText(paragraph, width, INDENT)),
    `\nUsage: ${usageOf(path, command, width)}`,
    ...section("Arguments:", words, width),
    ...section("Options:", [...options, HELP], width),
    // It is copied, and so never broken.
    `\nExample:\n  ${example}`,
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

/** Parts in lines of the width; a part is never broken. */
function usageLines(parts: readonly string[], width: number): string {
  const indent = " ".repeat("Usage: ".length);
  const text = indent + parts.map((part) => part.replaceAll(" ", NO_BREAK)).join(" ");
  return wrapText(text, width, indent).join("\n").replaceAll(NO_BREAK, " ").trimStart();
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

/** Words with their explanations beside them; below them where a word is long or the width is small. */
function section(title: string, rows: readonly Row[], width: number): string[] {
  if (rows.length === 0) return [];
  const longest = Math.max(...rows.map(([word]) => (word.length > LONGEST_WORD ? 0 : word.length)));
  const beside = longest + 2 * INDENT.length;
  const isNarrow = width - beside < NARROWEST_EXPLANATION;
  const indent = isNarrow ? INDENT.repeat(3) : " ".repeat(beside);
  const shown = rows.flatMap(([word, text]) => {
    const lines = text === "" ? [] : wrapText(indent + text, width, indent);
    const isAbove = isNarrow || word.length > longest;
    const [first = "", ...rest] = isAbove ? ["", ...lines] : lines;
    return [`${INDENT}${word.padEnd(longest)}${INDENT}${first.trimStart()}`.trimEnd(), ...rest];
  });
  return ["", title, ...shown];
}

function lines(...texts: string[]): string {
  return `${texts.join("\n")}\n`;
}

/**
 * How many columns help takes: those of the terminal, within limits; `COLUMNS` wins.
 *
 * Behaviour: a terminal is only asked where `TERM` names one: what asks it takes as long as the rest of help.
 */
export async function helpWidth(to: "stdout" | "stderr"): Promise<number> {
  if (!process.env.COLUMNS && !process.env.TERM) return WIDTH;
  const { columnsOf } = await import("../output.ts");
  const columns = await columnsOf(to, process.env);
  return columns === null ? WIDTH : Math.min(WIDEST, Math.max(NARROWEST, columns));
}
