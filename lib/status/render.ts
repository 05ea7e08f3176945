import { styleText } from "node:util";
import { wrapText } from "../text/wrap.ts";
import type { NamedReport, PartName, PartReport } from "./part.ts";
import { isAllWell } from "./run.ts";

type Status = PartReport["status"];

/** Before each part: words for a file or a pipe, marks for a terminal, in their colours. */
const WORDS: Record<Status, string> = { ok: "ok", attention: "LOOK", unknown: "?", not_set_up: "-" };
const MARKS: Record<Status, string> = { ok: "✓", attention: "✗", unknown: "?", not_set_up: "·" };
const COLOURS = { ok: "green", attention: "red", unknown: "yellow", not_set_up: "gray" } as const;

const NAMES: Record<PartName, string> = {
  ...{ weekly: "weekly", webhook: "webhook", collector: "collector" },
  ...{ "socket-monitor": "socket monitor", "alert-rules": "alert rules" },
};
/** A narrower terminal breaks the lines itself. */
const LEAST_ROOM = 30;
const NAME_WIDTH = Math.max(...Object.values(NAMES).map((name) => name.length));

/**
 * How the text is shown: with marks on a terminal, with colours where they are wanted.
 *
 * Units: `columns` of the terminal, null where there is none; a command is never broken, so that it can be copied whole.
 */
export type Look = { isTerminal: boolean; colour: boolean; columns: number | null };

/** A line or two for each part, and the command that comes next where a person is needed. */
export function renderStatus(reports: readonly NamedReport[], look: Look): string {
  const lines = reports.flatMap((report) => linesOf(report, look));
  return `${lines.join("\n")}\n${tailOf(reports)}`;
}

const TAIL = "\nWhat every command needs, in detail: sudo opsctl doctor --all\n";
/** It ends with 0 here, too, as nothing is at fault. */
const NOTHING_YET = "\nNothing is set up on this host. What comes first: sudo opsctl doctor\n";

function tailOf(reports: readonly NamedReport[]): string {
  if (reports.every(({ status }) => status === "not_set_up")) return NOTHING_YET;
  return isAllWell(reports) ? "" : TAIL;
}

function linesOf(
  { part, status, lines, next }: NamedReport,
  { isTerminal, colour, columns }: Look,
): string[] {
  const width = isTerminal ? 1 : 4;
  const mark = (isTerminal ? MARKS : WORDS)[status].padEnd(width);
  const painted = colour ? styleText(COLOURS[status], mark, { validateStream: false }) : mark;
  const indent = " ".repeat(width + NAME_WIDTH + 6);
  const room = Math.max(LEAST_ROOM, (columns ?? Number.POSITIVE_INFINITY) - indent.length);
  const [first = "", ...more] = lines.flatMap((line) => wrapText(line, room, ""));
  const all = [...more, ...(next === null ? [] : [`-> ${next}`])];
  return [
    `  ${painted}  ${NAMES[part].padEnd(NAME_WIDTH)}  ${first}`,
    ...all.map((line) => `${indent}${line}`),
  ];
}
