import { formatCount } from "../../../text/pt-br.ts";
import { truncate } from "../../../text/truncate.ts";
import { aboutAlert, COMMON_LABELS } from "../../alert/about.ts";
import type { Alert } from "../../alert/alert.ts";
import { NAMELESS } from "../../alert/name.ts";
import { endedUnmeasured } from "../../alert/state-reason.ts";
import type { Detour } from "../../state/contract.ts";
import { lateness, timeSpan } from "../timing.ts";
import { leftOutWording, markerOf, verdictWords } from "../wording.ts";
import { detourWording } from "./detour.ts";
import { labelKey, labelMark } from "./label-line.ts";
import { isShownWhole, whatsappBold, whatsappLine } from "./whatsapp-line.ts";

const MAX_UNITS = 4000;
const MAX_RULES = 8;
const MAX_RULE_UNITS = 60;
/** No line is longer, however few there are, and none is shorter than what can be read. */
const MAX_LINE_UNITS = 160;
const MIN_LINE_UNITS = 40;
/** Kept free for the line that counts what did not fit. */
const REST_UNITS = 40;

/** One alert of a message that tells several. */
export type DigestEntry = { alert: Alert; isRepeat: boolean; waitedMs: number };

/** The alerts that one line tells, in the order in which they came: those of one fingerprint and the same labels. */
type Line = readonly [DigestEntry, ...DigestEntry[]];

/**
 * One WhatsApp message for several alerts: counts by rule, then a line for each alert.
 *
 * Shape:     marker, name, what tells it apart, time; at most 4,000 UTF-16 units, into which 40 lines always fit.
 * Behaviour: alerts of one fingerprint, as a firing one and its end, share a line, which shows the last state. Two
 *            lines of different labels are different. The sender's texts cannot make a line, formatting or a link.
 * Source:    design of the alarm, Floods stay readable.
 */
export function renderDigest(
  entries: readonly DigestEntry[],
  { nowMs, detour = { emailed: 0, givenUp: 0 } }: { nowMs: number; detour?: Detour },
): { text: string } {
  const lines = linesOf(entries);
  const about = [headLine(lines), lateLine(entries), leftOutLine(entries), detourWording(detour)];
  const head = [...about, ...ruleCounts(lines), ""];
  const top = head.filter((line) => line !== null).join("\n");
  const texts = lineTexts(lines, { nowMs, maxUnits: lineUnits(MAX_UNITS - top.length, lines.length) });
  return { text: `${top}\n${fitting(texts, MAX_UNITS - top.length - 1).join("\n")}` };
}

function linesOf(entries: readonly DigestEntry[]): Line[] {
  const lines = new Map<string, [DigestEntry, ...DigestEntry[]]>();
  for (const entry of entries) {
    const key = labelKey(entry.alert);
    const line = lines.get(key);
    if (line === undefined) lines.set(key, [entry]);
    else line.push(entry);
  }
  return [...lines.values()];
}

function headLine(lines: readonly Line[]): string {
  const last = lines.map((line) => lastOf(line).alert);
  const unmeasured = last.filter(endedUnmeasured).length;
  const resolved = last.filter(({ status }) => status === "resolved").length - unmeasured;
  const active = lines.length - resolved - unmeasured;
  const states = [
    active > 0 ? formatCount(active, "ativo", "ativos") : null,
    resolved > 0 ? formatCount(resolved, "resolvido", "resolvidos") : null,
    unmeasured > 0 ? formatCount(unmeasured, "encerrado sem medição", "encerrados sem medição") : null,
  ];
  const title = formatCount(lines.length, "alerta nesta mensagem", "alertas nesta mensagem");
  return [`📋 *${title}*`, ...states.filter((state) => state !== null)].join(" · ");
}

function lateLine(entries: readonly DigestEntry[]): string | null {
  const late = lateness(Math.max(0, ...entries.map(({ waitedMs }) => waitedMs)));
  return late === null ? null : `Mais antigo ${late}`;
}

/** Each alert has the number of its own post, so the largest is what is certain of several posts. */
function leftOutLine(entries: readonly DigestEntry[]): string | null {
  const truncatedAlerts = Math.max(0, ...entries.map(({ alert }) => alert.truncatedAlerts));
  return leftOutWording({ truncatedAlerts });
}

/** How many lines each rule has, most first; rules beyond the first ones together. */
function ruleCounts(lines: readonly Line[]): string[] {
  const counts = new Map<string, number>();
  for (const line of lines) {
    const name = nameOf(lastOf(line).alert);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  const shown = sorted
    .slice(0, MAX_RULES)
    .map(([name, count]) => `${count} × ${truncate(name, MAX_RULE_UNITS) || "…"}`);
  const rest = sorted.slice(MAX_RULES).reduce((sum, [, count]) => sum + count, 0);
  if (rest === 0) return shown;
  return [...shown, `${rest} de ${formatCount(sorted.length - MAX_RULES, "outra regra", "outras regras")}`];
}

function lineUnits(units: number, lines: number): number {
  const share = Math.floor(units / Math.max(1, lines)) - "\n".length;
  return Math.min(MAX_LINE_UNITS, Math.max(MIN_LINE_UNITS, share));
}

/** The line of each alert; where two would look alike, what tells them apart is added, or a mark of all labels. */
function lineTexts(lines: readonly Line[], limits: { nowMs: number; maxUnits: number }): string[] {
  const plain = lines.map((line) => lineText(line, "", limits));
  const more = lines.map((line, at) => {
    const alike = lines.filter((_, other) => plain[other] === plain[at]);
    return alike.length === 1 ? plain[at]! : lineText(line, difference(line, alike), limits);
  });
  return lines.map((line, at) => {
    const isAlone = more.filter((text) => text === more[at]).length === 1;
    const mark = `#${labelMark(lastOf(line).alert)}`;
    return isAlone ? more[at]! : lineText(line, mark, limits);
  });
}

/** The values of the labels in which a line differs from others that look like it. */
function difference(line: Line, alike: readonly Line[]): string {
  const labels = (each: Line) => lastOf(each).alert.labels;
  return Object.entries(labels(line))
    .filter(([name, value]) => !COMMON_LABELS.has(name) && isShownWhole(value))
    .filter(([name, value]) => alike.some((other) => labels(other)[name] !== value))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, value]) => whatsappLine(value))
    .join(" ");
}

/** Name and what tells it apart give way to the rest of a line, the longer first; the words of a verdict stay whole. */
function lineText(
  line: Line,
  addition: string,
  { nowMs, maxUnits }: { nowMs: number; maxUnits: number },
): string {
  const { alert, isRepeat } = lastOf(line);
  const rest = [endWords(line, isRepeat, nowMs)].filter((part) => part !== null);
  const marker = markerOf(alert);
  const words = verdictWords(alert);
  const verdict = words === "" ? "" : ` ${words}`;
  const parts = [nameOf(alert), whatsappLine(aboutAlert(alert)), addition];
  const separators = parts.filter((part) => part !== "").length * 3;
  const fixed = [marker, ...rest].join(" · ").length + verdict.length + separators;
  const [name, ...apart] = shared(parts, maxUnits - fixed);
  return `${marker} ${[`${name}${verdict}`, ...apart, ...rest].join(" · ")}`;
}

/** Texts cut so that together they have at most `units`: short ones stay whole, longer ones share what is left. */
function shared(texts: readonly string[], units: number): string[] {
  const present = texts.filter((text) => text !== "");
  let left = Math.max(0, units);
  const order = present.map((_, at) => at).sort((a, b) => present[a]!.length - present[b]!.length);
  const cut = [...present];
  for (const [done, at] of order.entries()) {
    const share = Math.floor(left / (order.length - done));
    cut[at] = truncate(present[at]!, share) || "…";
    left -= cut[at]!.length;
  }
  return cut;
}

function endWords(line: Line, isRepeat: boolean, nowMs: number): string | null {
  const { alert } = lastOf(line);
  const span = timeSpan(alert, nowMs);
  const times = line.length > 2 ? ` (${line.length} avisos)` : "";
  if (span === null) return times === "" ? null : times.trim();
  return `${isRepeat && alert.firing ? `desde ${span}` : span}${times}`;
}

function fitting(texts: readonly string[], units: number): string[] {
  let left = units;
  const kept = texts.filter((text, at) => {
    left -= text.length + "\n".length;
    return left >= (at === texts.length - 1 ? -"\n".length : REST_UNITS);
  });
  const rest = texts.length - kept.length;
  return rest === 0
    ? kept
    : [...kept, `+${formatCount(rest, "alerta não mostrado", "alertas não mostrados")}`];
}

function nameOf({ name }: Alert): string {
  return whatsappBold(name ?? "") || NAMELESS;
}

function lastOf(line: Line): DigestEntry {
  return line.at(-1)!;
}
