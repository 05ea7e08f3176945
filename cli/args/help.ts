import process from "node:process";
import { wrapText } from "../../lib/text/wrap.ts";
import { type Command, findEntry, type Group } from "../framework/command.ts";
import { namesOf, type Option } from "./options.ts";

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

/** The help of the command or group that the words name, in lines of the terminal's width; other words are ignored. */
export async function helpOf(program: Group, words: readonly string[]): Promise<string> {
  const { path, entry } = findEntry(program, words);
  const width = await helpWidth("stdout");
  const wrapped = (paragraphs: readonly string[]) =>
    paragraphs.flatMap((paragraph) => wrapText(paragraph, width, INDENT));
  if (!("load" in entry)) {
    const rows = Object.entries(entry.commands).map(([name, { description }]): Row => [name, description]);
    return lines(
      ...wrapped([entry.description]),
      `\nUsage: ${usageLines([path, "<command>", "[options]"], width)}`,
      ...section("Commands:", rows, width),
      ...section("Options:", entry === program ? [HELP, VERSION] : [HELP], width),
      "",
      ...wrapped([`Run \`${path} <command> --help\` for the options of a command and an example.`]),
    );
  }
  const command = await entry.load();
  const { args, notes, example } = command;
  const rowsOf = (names: readonly string[]) => names.map((name) => rowOf(name, args[name]!));
  return lines(
    ...wrapped([entry.description, ...(notes === undefined ? [] : ["", ...notes.split("\n")])]),
    `\nUsage: ${usageOf(path, command, width)}`,
    ...section("Arguments:", rowsOf(namesOf("positional", args)), width),
    ...section("Options:", [...rowsOf(namesOf("option", args)), HELP], width),
    // It is copied, and so never broken.
    `\nExample:\n  ${example}`,
  );
}

function lines(...texts: string[]): string {
  return `${texts.join("\n")}\n`;
}

/** How a command is called, without the word "Usage" before it, on as many lines as it needs. */
export function usageOf(path: string, { args, isVariadic }: Command, width: number): string {
  const parts = Object.entries(args).map(([name, arg]) => {
    if (arg.type === "positional") return `${nameOf(name, arg)}${isVariadic ? "…" : ""}`;
    return arg.required ? nameOf(name, arg) : `[${nameOf(name, arg)}]`;
  });
  return usageLines([path, ...parts], width);
}

/** Parts in lines of the width; a part is never broken. */
function usageLines(parts: readonly string[], width: number): string {
  const indent = " ".repeat("Usage: ".length);
  const text = indent + parts.map((part) => part.replaceAll(" ", NO_BREAK)).join(" ");
  return wrapText(text, width, indent).join("\n").replaceAll(NO_BREAK, " ").trimStart();
}

/** An option or argument and its explanation. */
export function rowOf(name: string, arg: Option): Row {
  const { description = "", default: otherwise } = arg;
  const required = arg.required && arg.type !== "positional" ? "required" : "";
  const notes = [required, otherwise === undefined ? "" : `default ${otherwise}`].filter(Boolean);
  return [nameOf(name, arg), notes.length === 0 ? description : `${description} (${notes.join(", ")})`];
}

/** `--limit <n>`, or an argument as usage shows it. */
export function nameOf(name: string, arg: Option): string {
  if (arg.type === "positional") return arg.required === false ? `[${name}]` : `<${name}>`;
  if (arg.type === "boolean") return `--${name}`;
  return `--${name} <${arg.type === "enum" ? arg.options?.join("|") : (arg.valueHint ?? "value")}>`;
}

/** Words with their explanations beside them; below them where a word is long or the width is small. */
function section(title: string, rows: readonly Row[], width: number): string[] {
  if (rows.length === 0) return [];
  const longest = Math.max(...rows.map(([word]) => (word.length > LONGEST_WORD ? 0 : word.length)));
  const beside = longest + 2 * INDENT.length;
  const isNarrow = width - beside < NARROWEST_EXPLANATION;
  const indent = isNarrow ? INDENT.repeat(3) : " ".repeat(beside);
  const shown = rows.flatMap(([word, text]) => {
    const below = text === "" ? [] : wrapText(indent + text, width, indent);
    const first = isNarrow || word.length > longest ? "" : (below.shift() ?? "");
    return [`${INDENT}${word.padEnd(longest)}${INDENT}${first.trimStart()}`.trimEnd(), ...below];
  });
  return ["", title, ...shown];
}

/** How many columns help takes: those of the terminal, within limits; it is only asked where a variable names one. */
export async function helpWidth(to: "stdout" | "stderr"): Promise<number> {
  if (!process.env.COLUMNS && !process.env.TERM) return WIDTH;
  const { columnsOf } = await import("../output.ts");
  const columns = columnsOf(to, process.env);
  return columns === null ? WIDTH : Math.min(WIDEST, Math.max(NARROWEST, columns));
}
