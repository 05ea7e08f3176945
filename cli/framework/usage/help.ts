import type { ArgDef } from "citty";
import { wrapText } from "../../../lib/text/wrap.ts";
import type { Command, Group } from "../command.ts";

/** Help is as wide as the narrowest terminal that people use, so that it is the same everywhere. */
const WIDTH = 80;
/** What is explained stands in a column of its own; a longer word has its explanation below it. */
const LONGEST_WORD = 28;

/**
 * Prints help or the version.
 *
 * Behaviour: does not report a failed write: nothing was done, so nothing is lost. Loading `node:fs`, which would report
 *            it, takes a third of the whole time.
 */
export function printHelp(text: string): void {
  // biome-ignore lint/suspicious/noConsole: see above
  console.log(text.trimEnd());
}

/** The help of a group: its commands, without importing any of them. */
export function renderGroupHelp(path: string, group: Group): string {
  const rows = Object.entries(group.commands).map(([name, { meta }]) => [name, meta.description] as const);
  const options: Row[] = [["--help", "Show this help"]];
  if (path === "opsctl") options.push(["--version", "Show version and commit"]);
  return lines(
    ...wrapText(group.meta.description, WIDTH),
    "",
    `Usage: ${path} <command> [options]`,
    "",
    "Commands:",
    ...columns(rows),
    "",
    "Options:",
    ...columns(options),
    "",
    ...wrapText(`Run \`${path} <command> --help\` for the options of a command and an example.`, WIDTH),
  );
}

/** The help of a command: arguments, options and an example. */
export function renderCommandHelp(path: string, command: Command): string {
  const all = Object.entries(command.args);
  const words = all.filter(([, arg]) => arg.type === "positional");
  const options = all.filter(([, arg]) => arg.type !== "positional");
  return lines(
    ...wrapText(command.meta.description, WIDTH),
    ...(command.notes === undefined
      ? []
      : ["", ...command.notes.split("\n").flatMap((line) => wrapText(line, WIDTH))]),
    "",
    `Usage: ${usageOf(path, command)}`,
    ...section(
      "Arguments:",
      words.map(([name, arg]): Row => [wordText(name, arg), arg.description ?? ""]),
    ),
    ...section("Options:", [...options.map(optionRow), ["--help", "Show this help"]]),
    "",
    "Example:",
    `  ${command.example}`,
  );
}

/** How a command is called, without the word "Usage" that stands before it; on as many lines as it needs. */
export function usageOf(path: string, command: Command): string {
  const parts = Object.entries(command.args).map(([name, arg]) => {
    if (arg.type === "positional") return `${wordText(name, arg)}${command.takesMany ? "…" : ""}`;
    const option = optionText(name, arg);
    return arg.required ? option : `[${option}]`;
  });
  const indent = " ".repeat("Usage: ".length);
  return joinInLines([path, ...parts], indent)
    .join("\n")
    .trimStart();
}

type Row = readonly [string, string];

function optionRow([name, arg]: [string, ArgDef]): Row {
  const notes = [arg.required ? "required" : "", arg.default === undefined ? "" : `default ${arg.default}`];
  const note = notes.filter(Boolean).join(", ");
  return [optionText(name, arg), `${arg.description ?? ""}${note === "" ? "" : ` (${note})`}`];
}

function optionText(name: string, arg: ArgDef): string {
  if (arg.type === "boolean") return `--${name}`;
  return `--${name} <${arg.type === "enum" ? arg.options?.join("|") : (arg.valueHint ?? "value")}>`;
}

function wordText(name: string, arg: ArgDef): string {
  return arg.required === false ? `[${name}]` : `<${name}>`;
}

function section(title: string, rows: readonly Row[]): string[] {
  return rows.length === 0 ? [] : ["", title, ...columns(rows)];
}

function columns(rows: readonly Row[]): string[] {
  const width = Math.max(...rows.map(([left]) => (left.length > LONGEST_WORD ? 0 : left.length)));
  const indent = " ".repeat(width + 4);
  return rows.flatMap(([left, right]) => {
    const text = wrapText(right, WIDTH - indent.length);
    if (left.length > width) return [`  ${left}`, ...text.map((line) => indent + line)];
    return text.map((line, at) => `${at === 0 ? `  ${left.padEnd(width)}  ` : indent}${line}`.trimEnd());
  });
}

/** Parts on lines of the width; a part is never broken, and one that is longer has a line of its own. */
function joinInLines(parts: readonly string[], indent: string): string[] {
  const joined: string[] = [];
  for (const part of parts) {
    const line = `${joined.at(-1)} ${part}`;
    if (joined.length > 0 && line.length <= WIDTH) joined[joined.length - 1] = line;
    else joined.push(indent + part);
  }
  return joined;
}

function lines(...texts: string[]): string {
  return `${texts.join("\n")}\n`;
}
