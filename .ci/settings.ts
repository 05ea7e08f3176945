/** Writes what is generated from the table of settings: `systemd/*.env.example`, the tables of docs/configuration.md. */
import { readFileSync, writeFileSync } from "node:fs";
import {
  ALL_SETTINGS,
  COMMAND_NAMES,
  commandFile,
  ENV_FILES,
  fileOf,
  isSecret,
  readersOf,
  type Setting,
  settingsOfFile,
} from "../lib/platform/config/settings-table.ts";
import { ROOT_SECRETS } from "../lib/platform/secrets/root-secrets.ts";
import { wrapText } from "../lib/text/wrap.ts";

type Row = (typeof ALL_SETTINGS)[number];

const PAGE = "docs/configuration.md";
const WIDTH = 118;
/** The tables of docs/configuration.md: the words of their markers, and the files to which their settings belong. */
const TABLES: readonly [string, readonly string[]][] = [
  ["weekly run", ["weekly.env"]],
  ["alert webhook", ["webhook.env"]],
  ["alert rules", ["alert-rules.env"]],
  ["collector and socket monitor", ["collect-metrics.env", "socket-monitor.env"]],
  ["shared", ["shared"]],
];

/** In no sample: their defaults are the places that `make install` makes. */
const PLACES = ["OPSCTL_LOG_DIR", "OPSCTL_STATE_DIR", "OPSCTL_WEBHOOK_ENV_FILE"];

/** The sample of an environment file: the settings that belong there, with words before each and without a value. */
export function renderSample(file: string): string {
  const names = settingsOfFile(file).filter((name) => !PLACES.includes(name));
  const rows = ALL_SETTINGS.filter(([name, { commands }]) => names.includes(name) && commands !== "all");
  const own = rows.filter(([, setting]) => !setting.isShared || file === "webhook.env");
  const others = rows.filter((row) => !own.includes(row)).map(([name]) => name);
  const secrets = own.filter(([, setting]) => isSecret(setting));
  const isRoots = file === "collect-metrics.env";
  const listed = secrets.filter(([name]) => ROOT_SECRETS.includes(name) === isRoots);
  const commands = COMMAND_NAMES.filter((command) => commandFile(command) === file);
  const [owner, directory] = isRoots ? ["root", "root-secrets"] : ["opsctl", "secrets"];
  const head = [
    `/etc/opsctl/${file}, owner ${owner}:${owner}, mode 0600, for opsctl ${commands.join(", ")}.`,
    "NAME=value, one a line, in single quotes where it holds $, ` or \\. An empty value counts as absent.",
    "All settings: docs/configuration.md.",
    ...(file === "webhook.env" ? ["After a change: systemctl reload opsctl-webhook.service."] : []),
    ...(others.length === 0 ? [] : [`Looked for in webhook.env as well: ${others.join(", ")}.`]),
  ];
  const secretsHead = `Secrets: opsctl secret set <NAME> puts each into a file in /etc/opsctl/${directory}, which wins over a line here:`;
  return [
    ...comment(head.join(" ")),
    ...(listed.length === 0 ? [] : comment(secretsHead)),
    ...listed.flatMap(([name, setting]) => comment(`${name}: ${helpOf(setting)}`, "  ")),
    ...own.filter((row) => !secrets.includes(row)).flatMap((row) => ["", ...settingLines(row, file)]),
    "",
  ].join("\n");
}

function settingLines([name, setting]: Row, file: string): string[] {
  const late = setting.restart && file === "webhook.env" ? " Changes at a restart only." : "";
  const absent = setting.default === undefined ? "" : ` Empty: ${setting.default}`;
  return [...comment(`${helpOf(setting)}${late}${absent}`), `${name}=${setting.sample ?? ""}`];
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
  return TABLES.reduce((text, [title, files]) => {
    const [begin, end] = [`<!-- settings: ${title} -->\n`, "<!-- end of settings -->"];
    const from = text.indexOf(begin);
    if (from < 0) throw new Error(`${PAGE} has no marker ${begin}`);
    const rows = ALL_SETTINGS.filter(([, setting]) => files.includes(sectionOf(setting))).map(docsRow);
    const head = "| variable | needed by | default | meaning |\n|---|---|---|---|\n";
    return `${text.slice(0, from)}${begin}\n${head}${rows.join("")}\n${text.slice(text.indexOf(end, from))}`;
  }, page);
}

/** The file to which a setting belongs; `shared` for one of three files or more. */
function sectionOf(setting: Setting): string {
  const files = [...new Set(readersOf(setting).map(({ command }) => fileOf(setting, command)))];
  return files.length < 3 ? files[0]! : "shared";
}

function docsRow([name, setting]: Row): string {
  const { help, default: value } = setting;
  const meaning = value === undefined ? "" : `\`${value}\``;
  return `| \`${name}\`${isSecret(setting) ? " (secret)" : ""} | ${neededBy(setting)} | ${meaning} | ${help} |\n`;
}

function neededBy({ commands }: Setting): string {
  if (commands === "all") return "(all)";
  return commands.join(", ").replaceAll(/ with (\w+)/g, " with `$1`");
}

if (import.meta.main) {
  for (const file of ENV_FILES) writeFileSync(`systemd/${file}.example`, renderSample(file));
  writeFileSync(PAGE, renderDocs(readFileSync(PAGE, "utf8")));
}
