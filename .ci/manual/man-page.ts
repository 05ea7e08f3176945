import { optionRow, type Row, wordText } from "../../cli/args/help.ts";
import { type Option, optionNames, positionalNames } from "../../cli/args/options.ts";
import type { Command, Group } from "../../cli/framework/command.ts";
import { VERSION } from "../../cli/framework/version.ts";
import { codes } from "../../cli/wiring/codes.ts";
import { commandFile, DEFAULT_ENV_DIR } from "../../lib/platform/config/settings-table.ts";
import { bold, italic, roff, roffLines, roffProse } from "./roff.ts";

/** A man page: the words of its command, and the text of the file. */
export type ManPage = { path: string; text: string };

/** The page of a group of commands, such as `opsctl webhook`, or of opsctl itself. */
export function groupPage(path: string, { description, commands }: Group, date: string): ManPage {
  const names = Object.keys(commands);
  return pageOf(path, description, date, [
    section("SYNOPSIS", [`${bold(path)} ${italic("command")} [${italic("options")}]`]),
    section(
      "COMMANDS",
      names.flatMap((name) =>
        entry(bold(name), `${commands[name]?.description}; see ${pageName(`${path} ${name}`)}(1)`),
      ),
    ),
    section("OPTIONS", optionsOf(path === "opsctl" ? [["--version", "Show version and commit"]] : [])),
    ...(path === "opsctl" ? [ENVIRONMENT] : []),
    EXIT_STATUS,
    seeAlso(
      path,
      names.map((name) => `${path} ${name}`),
    ),
  ]);
}

/** The page of a command. */
export function commandPage(path: string, description: string, command: Command, date: string): ManPage {
  const { args, notes, example } = command;
  const options = optionNames(args).map((name) => optionRow(name, args[name] as Option));
  const file = commandFile(path.slice("opsctl ".length));
  return pageOf(path, description, date, [
    section("SYNOPSIS", synopsis(path, command)),
    section(
      "DESCRIPTION",
      [sentence(description), ...(notes ?? "").split("\n")].filter(Boolean).map(roffLines),
    ),
    section(
      "ARGUMENTS",
      positionalNames(command.args).flatMap((name) => entry(italic(name), args[name]?.description ?? "")),
    ),
    section("OPTIONS", optionsOf(options)),
    section("FILES", file === null ? [] : entry(italic(`${DEFAULT_ENV_DIR}/${file}`), SETTINGS)),
    EXIT_STATUS,
    section("EXAMPLES", [".EX", roff(example), ".EE"]),
    seeAlso(path, []),
  ]);
}

const SETTINGS =
  "The settings of the command, below those of the environment. `OPSCTL_ENV_DIR` names another directory.";

const EXIT_STATUS = section(
  "EXIT STATUS",
  ["0", "1", "2", "3", "4"].flatMap((status) =>
    entry(bold(status), sentence(codes.explain(status)[0]?.meaning ?? "")),
  ),
);

const ENVIRONMENT = section("ENVIRONMENT", [
  ...entry(
    bold("OPSCTL_ENV_DIR"),
    "The directory of the settings files, instead of `/etc/opsctl`; empty: none is read.",
  ),
  ...entry(
    bold("OPSCTL_LOG_LEVEL"),
    "The least important lines of the log: `debug`, `info`, `warn` or `error`.",
  ),
  ...entry(bold("NO_COLOR"), "Not empty: no colours on a terminal."),
]);

/** `opsctl-webhook-serve` for `opsctl webhook serve`. */
export function pageName(path: string): string {
  return path.replaceAll(" ", "-");
}

function pageOf(path: string, description: string, date: string, sections: readonly string[][]): ManPage {
  const name = pageName(path);
  const lines = [
    '.\\" Made from the command tree by make man; changes belong there.',
    `.TH ${roff(name.toUpperCase())} 1 ${date} "opsctl ${VERSION}" "opsctl"`,
    ".SH NAME",
    `${roff(name)} \\- ${roffProse(description)}`,
    ...sections.flat(),
  ];
  return { path, text: `${lines.join("\n")}\n` };
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`.SH ${title}`, ...lines];
}

function entry(head: string, text: string): string[] {
  return [".TP", head, roffLines(text)];
}

function optionsOf(rows: readonly Row[]): string[] {
  return [...rows, ["--help", "Show the help"] as const].flatMap(([option, text]) =>
    entry(optionHead(option), text),
  );
}

/** `--limit <n>` with the option in bold and its value in italics. */
function optionHead(option: string): string {
  const [name = "", value] = option.split(/ <|>$/);
  return value === undefined ? bold(name) : `${bold(name)} ${italic(value)}`;
}

function synopsis(path: string, { args, isVariadic }: Command): string[] {
  const parts = Object.entries(args).map(([name, arg]) => {
    if (arg.type === "positional") return `${roff(wordText(name, arg))}${isVariadic ? " ..." : ""}`;
    const option = optionHead(optionRow(name, arg)[0]);
    return arg.required ? option : `[${option}]`;
  });
  return [".ad l", ".nh", [bold(path), ...parts].join("\n"), ".hy", ".ad b"];
}

function seeAlso(path: string, others: readonly string[]): string[] {
  const groups = path.split(" ").map((_word, at, words) => words.slice(0, at).join(" "));
  const pages = [...groups.filter((group) => group !== ""), ...others].map(
    (name) => `${bold(pageName(name))}(1)`,
  );
  return section("SEE ALSO", [pages.join(",\n")].filter(Boolean));
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?)]$/.test(text) ? "" : "."}`;
}
