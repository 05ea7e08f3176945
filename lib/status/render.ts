import type { PartName } from "../host/set-up.ts";
import { withDirectories } from "../platform/config/with-directories.ts";
import type { Environment } from "../platform/secrets/adapter.ts";
import { adviceLines } from "../text/terminal/advice-lines.ts";
import { hangingLines } from "../text/terminal/hanging-lines.ts";
import { proseLines } from "../text/terminal/prose.ts";
import { paint, type Screen } from "../text/terminal/screen.ts";
import type { NamedReport, PartReport } from "./part.ts";
import { SEEN_BY_ROOT } from "./part-settings.ts";
import { isAllWell } from "./run.ts";

type Status = PartReport["status"];

/** Before each part: words for a file or a pipe, marks for a terminal, in their colours. */
const WORDS: Record<Status, string> = { ok: "ok", attention: "LOOK", unknown: "?", not_set_up: "-" };
const MARKS: Record<Status, string> = { ok: "✓", attention: "✗", unknown: "?", not_set_up: "·" };
const TONES = { ok: "good", attention: "bad", unknown: "warning", not_set_up: "label" } as const;

const NAMES: Record<PartName, string> = {
  ...{ weekly: "weekly", webhook: "webhook", collector: "collector" },
  ...{ "socket-monitor": "socket monitor", "alert-rules": "alert rules" },
};
const NAME_WIDTH = Math.max(...Object.values(NAMES).map((name) => name.length));

/** How the text is shown: with marks instead of words on a terminal; `env` says where the settings are. */
export type Look = Screen & { isTerminal: boolean; env?: Environment };

/** A line or two for each part, and the command that comes next where a person is needed. */
export function renderStatus(reports: readonly NamedReport[], look: Look): string {
  const seenByRoot = withDirectories(SEEN_BY_ROOT, look.env ?? {});
  const isForRoot = ({ next }: NamedReport) => next === seenByRoot;
  const isTogether = reports.filter(isForRoot).length > 1;
  const parts = reports.flatMap((report) =>
    linesOf(isTogether && isForRoot(report) ? { ...report, next: null } : report, look),
  );
  const lines = [
    ...parts,
    ...(isTogether ? ["", ...proseLines(ALL_PARTS + seenByRoot, look)] : tailOf(reports, look)),
  ];
  return lines.map((line) => `${line}\n`).join("");
}

const ALL_PARTS = "What this account may not see: ";
const TAIL = "What every command needs, in detail: sudo opsctl doctor --all";
/** It ends with 0 here, too, as nothing is at fault. */
const NOTHING_YET = "Nothing is set up on this host. What comes first: sudo opsctl doctor";

function tailOf(reports: readonly NamedReport[], look: Look): string[] {
  const isNothingYet = reports.every(({ status }) => status === "not_set_up");
  if (!isNothingYet && isAllWell(reports)) return [];
  return ["", ...proseLines(withDirectories(isNothingYet ? NOTHING_YET : TAIL, look.env ?? {}), look)];
}

function linesOf({ part, status, lines, next }: NamedReport, look: Look): string[] {
  const mark = (look.isTerminal ? MARKS : WORDS)[status];
  const name = `  ${NAMES[part].padEnd(NAME_WIDTH)}  `;
  const head = `  ${mark.padEnd(look.isTerminal ? 1 : 4)}${name}`;
  const indent = " ".repeat(head.length);
  const all = lines.flatMap((line, at) => hangingLines(at === 0 ? head : indent, line, look));
  if (next !== null) all.push(...adviceLines(`${indent}-> `, next, look));
  return all.map((line, at) => (at === 0 ? line.replace(mark, paint(TONES[status], mark, look)) : line));
}
