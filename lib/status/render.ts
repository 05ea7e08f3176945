import { PARTS } from "../platform/config/settings-table.ts";
import { sudoLine } from "../platform/config/sudo-line.ts";
import type { Environment } from "../platform/secrets/adapter.ts";
import { fixLines, hangingLines } from "../text/terminal/prose.ts";
import { paint, type Screen } from "../text/terminal/screen.ts";
import { isAllWell, type PartReport } from "./run.ts";

type Status = PartReport["status"];

/** Before each part: a word in a file or a pipe, a mark on a terminal, in its colour. */
const MARKS = {
  ok: { word: "ok", mark: "✓", tone: "good" },
  attention: { word: "LOOK", mark: "✗", tone: "bad" },
  unknown: { word: "?", mark: "?", tone: "warning" },
  outdated: { word: "old", mark: "~", tone: "label" },
  not_set_up: { word: "-", mark: "·", tone: "label" },
} as const satisfies Record<Status, object>;

const NAME_WIDTH = Math.max(...PARTS.map((part) => part.length));

/** How the text is shown: with marks instead of words on a terminal; `env` says where the settings are. */
export type Look = Screen & { isTerminal: boolean; env: Environment };

/** A line or two for each part, and the command that comes next where a person is needed. */
export function renderStatus(reports: readonly PartReport[], look: Look): string {
  const parts = reports.flatMap((report) => linesOf(report, look));
  return [...parts, ...tailOf(reports, look.env)].map((line) => `${line}\n`).join("");
}

/** The command that says more; on a host on which nothing is set up, the one to begin with. */
function tailOf(reports: readonly PartReport[], env: Environment): string[] {
  if (reports.every(({ status }) => status === "not_set_up"))
    return ["", "Nothing is set up on this host. Begin with:", `  ${sudoLine("doctor", env)}`];
  if (isAllWell(reports)) return [];
  return ["", "What every command needs, in detail:", `  ${sudoLine("doctor --all", env)}`];
}

function linesOf({ part, status, lines, next }: PartReport, look: Look): string[] {
  const { word, mark, tone } = MARKS[status];
  const shown = look.isTerminal ? mark : word;
  const head = `  ${shown.padEnd(look.isTerminal ? 1 : 4)}  ${part.replace("-", " ").padEnd(NAME_WIDTH)}  `;
  const indent = " ".repeat(head.length);
  const all = lines.flatMap((line, at) => hangingLines(at === 0 ? head : indent, line, look));
  if (next !== null) all.push(...fixLines(`${indent}-> `, { text: null, command: next }, look));
  return all.map((line, at) => (at === 0 ? line.replace(shown, () => paint(tone, shown, look)) : line));
}
