import type { ArgDef } from "citty";
import { wrapText } from "../../../lib/text/wrap.ts";
import type { Command, Group } from "../command.ts";

/** Help in a file or a pipe is the same everywhere. */
const WIDTH = 80;
/** What is explained stands in a column of its own; a longer word has its explanation below it. */
const LONGEST_WORD = 28;
/** Where less is left beside that column, all explanations stand below. */
const NARROWEST_EXPLANATION = 30;

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

/** The help of a group in lines of `width` columns: its commands, without importing any of them. */
export function renderGroupHelp(path: string, group: Group, width = WIDTH): string {
  const rows = Object.entries(group.commands).map(([name, { meta }]) => [name, meta.description] as const);
  const options: Row[] = [["--help", "Show this help"]];
  if (path === "opsctl") options.push(["--version", "Show version and commit"]);
  return lines(
    ...wrapText(group.meta.description, width, INDENT),
    "",
    `Usage: ${usageLines([path, "<command>", "[options]"], width)}`,
    "",
    "Commands:",
    ...columns(rows, width),
    "",
    "Options:",
    ...columns(options, width),
    "",
    ...wrapText(
      `Run \`${path} <command> --help\` for the options of a command and an example.`,
      width,
      INDENT,
    ),
  );
}

/** The help of a command in lines of `width` columns: arguments, options and an example, which is never broken. */
export function renderCommandHelp(path: string, command: Command, width = WIDTH): string {
  const all = Object.entries(command.args);
  const words = all.filter(([, arg]) => arg.type === "positional");
  const options = all.filter(([, arg]) => arg.type !== "positional");
  return lines(
    ...wrapText(command.meta.description, width, INDENT),
    ...notesOf(command, width),
    "",
    `Usage: ${usageOf(path, command, width)}`,
    ...section(
      "Arguments:",
      words.map(([name, arg]): Row => [wordText(name, arg), arg.description ?? ""]),
      width,
    ),
    ...section("Options:", [...options.map(optionRow), ["--help", "Show this help"]], width),
    "",
    "Example:",
    `  ${command.example}`,
  );
}

/** How a command is called, without the word "Usage" that stands before it; on as many lines as it needs. */
export function usageOf(path: string, command: Command, width: number): string {
  const parts = Object.entries(command.args).map(([name, arg]) => {
    if (arg.type === "positional") return `${wordText(name, arg)}${command.takesMany ? "…" : ""}`;
    const option = optionText(name, arg);
    return arg.required ? option : `[${option}]`;
  });
  return usageLines([path, ...parts], width);
}

function usageLines(parts: readonly string[], width: number): string {
  const indent = " ".repeat("Usage: ".length);
  return joinInLines(parts, indent, width).join("\n").trimStart();
}

/** What is explained, and its explanation. */
export type Row = readonly [string, string];

/** Before each further line of a paragraph, so that the next paragraph stands out. */
const INDENT = "  ";

/** Each line of the notes is a paragraph. */
function notesOf({ notes }: Command, width: number): string[] {
  if (notes === undefined) return [];
  return ["", ...notes.split("\n").flatMap((paragraph) => wrapText(paragraph, width, INDENT))];
}

/** An option and what is said about it. */
export function optionRow([name, arg]: [string, ArgDef]): Row {
  const notes = [arg.required ? "required" : "", arg.default === undefined ? "" : `default ${arg.default}`];
  const note = notes.filter(Boolean).join(", ");
  return [optionText(name, arg), `${arg.description ?? ""}${note === "" ? "" : ` (${note})`}`];
}

/** An option as it is written, with what its value is. */
function optionText(name: string, arg: ArgDef): string {
  if (arg.type === "boolean") return `--${name}`;
  return `--${name} <${arg.type === "enum" ? arg.options?.join("|") : (arg.valueHint ?? "value")}>`;
}

/** An argument as usage shows it. */
export function wordText(name: string, arg: ArgDef): string {
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
    const text = wrapText(right, width - indent.length);
    if (isNarrow || left.length > longest)
      return [INDENT + left, ...text.filter((line) => line !== "").map((line) => indent + line)];
    const start = `${INDENT}${left.padEnd(longest)}${INDENT}`;
    return text.map((line, at) => `${at === 0 ? start : indent}${line}`.trimEnd());
  });
}

/** Parts on lines of the width; a part is never broken, and one that is longer has a line of its own. */
function joinInLines(parts: readonly string[], indent: string, width: number): string[] {
  const joined: string[] = [];
  for (const part of parts) {
    const line = `${joined.at(-1)} ${part}`;
    if (joined.length > 0 && line.length <= width) joined[joined.length - 1] = line;
    else joined.push(indent + part);
  }
  return joined;
}

function lines(...texts: string[]): string {
  return `${texts.join("\n")}\n`;
}
