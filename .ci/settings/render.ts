import {
  ALL_SETTINGS,
  isReadBy,
  readersOf,
  SETTINGS_FILES,
  type Setting,
  type SettingsCommand,
} from "../../lib/platform/config/settings-table.ts";
import { wrapText } from "../../lib/text/wrap.ts";

type Row = readonly [name: string, setting: Setting];

const WIDTH = 118;
const COMMANDS = Object.keys(SETTINGS_FILES) as SettingsCommand[];
/** From so many files on a setting is in the table of those that commands share. */
const MANY_FILES = 3;
/** The tables of docs/configuration.md, by the words of their markers. */
const TABLES: Readonly<Record<string, (file: string) => boolean>> = {
  "weekly run": (file) => file === "weekly.env",
  "alert webhook": (file) => file === "webhook.env",
  "alert rules": (file) => file === "alert-rules.env",
  "collector and socket monitor": (file) => ["collect-metrics.env", "socket-monitor.env"].includes(file),
  shared: (file) => file === "shared",
};

/** The sample of an environment file: each setting that belongs there, with words before it and without a value. */
export function renderSample(file: string): string {
  const readers = COMMANDS.filter((command) => SETTINGS_FILES[command] === file);
  const rows = ALL_SETTINGS.filter(([, setting]) => readers.some((command) => isReadBy(setting, command)));
  const isHere = ([, { sharedFrom, terminal }]: Row) =>
    terminal !== true && (sharedFrom === undefined || sharedFrom === file);
  const secrets = rows.filter((row) => row[1].secret !== undefined && isHere(row));
  const others = rows.filter(([, { sharedFrom }]) => sharedFrom !== undefined && sharedFrom !== file);
  const plain = rows.filter((row) => row[1].secret === undefined && isHere(row));
  return [
    ...headOf(file, readers),
    ...secretLines(secrets),
    ...otherLines(others),
    ...plain.flatMap((row) => ["", ...settingLines(row, file)]),
    "",
  ].join("\n");
}

function headOf(file: string, readers: readonly string[]): string[] {
  const owner = file === "collect-metrics.env" ? "root:root" : "opsctl:opsctl";
  const reload =
    file === "webhook.env"
      ? " After a change: systemctl reload opsctl-webhook.service; the log says whether the new settings were taken."
      : "";
  return comment(
    `/etc/opsctl/${file}, owner ${owner}, mode 0600: opsctl ${listed(readers)} ${readers.length > 1 ? "read" : "reads"} it. NAME=value, one a line; nothing is expanded. A value that holds $, \` or \\ has to be in single quotes, and a line that only a shell understands is refused. An empty value counts as absent. What the environment says counts before this file.${reload}`,
  );
}

function secretLines(secrets: readonly Row[]): string[] {
  const [first] = secrets;
  if (first === undefined) return [];
  const directory = first[1].secret === "root" ? "/etc/opsctl/root-secrets" : "/etc/opsctl/secrets";
  const head = `Secrets: best each in a file of its name in ${directory}, where opsctl secret set <NAME> puts it, and which wins over a line here:`;
  return [
    "#",
    ...comment(head),
    ...secrets.flatMap(([name, setting]) => comment(`${name}: ${helpOf(setting)}`, "  ")),
  ];
}

function otherLines(others: readonly Row[]): string[] {
  if (others.length === 0) return [];
  return [
    "#",
    ...comment(`Looked for in webhook.env as well, last: ${others.map(([name]) => name).join(", ")}.`),
  ];
}

function settingLines([name, setting]: Row, file: string): string[] {
  const { restart, sample = "" } = setting;
  const late = restart === true && file === "webhook.env" ? " Changes at a restart only." : "";
  return [...comment(`${helpOf(setting)}${late}${emptyText(setting)}`), `${name}=${sample}`];
}

function emptyText({ default: value, absent }: Setting): string {
  const meaning = value ?? absent;
  return meaning === undefined ? "" : ` Empty: ${meaning.replaceAll("`", "")}`;
}

function helpOf({ help }: Setting): string {
  // A word of code begins as it is written.
  const text = help.startsWith("`") ? help : `${help[0]?.toUpperCase()}${help.slice(1)}`;
  return `${text.replaceAll("`", "")}.`;
}

function comment(text: string, indent = ""): string[] {
  return wrapText(text, WIDTH - indent.length).map((line) => `# ${indent}${line}`);
}

/** docs/configuration.md with its tables of settings as the table of settings has them. */
export function renderDocs(page: string): string {
  return Object.entries(TABLES).reduce((text, [title, isOf]) => {
    const [begin, end] = [`<!-- settings: ${title} -->\n`, "<!-- end of settings -->"];
    const from = text.indexOf(begin);
    if (from < 0) throw new Error(`docs/configuration.md has no marker ${begin}`);
    const rows = ALL_SETTINGS.filter(([, setting]) => isOf(sectionOf(setting))).map(docsRow);
    const head = "| variable | needed by | default | meaning |\n|---|---|---|---|\n";
    const after = text.slice(text.indexOf(end, from));
    return `${text.slice(0, from)}${begin}\n${head}${rows.join("")}\n${after}`;
  }, page);
}

/** The file to which a setting belongs; `shared` for one of many files. */
function sectionOf(setting: Setting): string {
  if (setting.commands === "all") return "shared";
  if (setting.sharedFrom !== undefined) return setting.sharedFrom;
  const files = new Set(readersOf(setting).map(({ command }) => SETTINGS_FILES[command]));
  return files.size >= MANY_FILES ? "shared" : [...files][0]!;
}

function docsRow([name, setting]: Row): string {
  const { secret, help, default: value, absent = "", link } = setting;
  const meaning = value === undefined ? absent : value === "off" ? "off" : `\`${value}\``;
  const more = link === undefined ? "" : `; [more](${link.replace(/^configuration\.md/, "")})`;
  return `| \`${name}\`${secret === undefined ? "" : " (secret)"} | ${neededBy(setting)} | ${meaning} | ${help}${more} |\n`;
}

function neededBy(setting: Setting): string {
  if (setting.commands === "all") return "(all)";
  const { neededWith = {} } = setting;
  const words = readersOf(setting).map(({ command, isRequired }) => ({
    isOptional: !isRequired && neededWith[command] === undefined,
    text: neededWith[command] === undefined ? command : `${command} with \`${neededWith[command]}\``,
  }));
  const textOf = (isOptional: boolean) =>
    words.flatMap((word) => (word.isOptional === isOptional ? [word.text] : [])).join(", ");
  const optional = textOf(true);
  return `${textOf(false)} ${optional === "" ? "" : `(${optional})`}`.trim();
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
