import { formatCount } from "../../../text/pt-br.ts";
import { truncate } from "../../../text/truncate.ts";
import { aboutAlert, COMMON_LABELS } from "../../alert/about.ts";
import type { Alert } from "../../alert/alert.ts";
import { NAMELESS } from "../../alert/name.ts";
import { endedUnmeasured } from "../../alert/state-reason.ts";
import { DIGEST_LIMIT, type DueRow, type RecoveryNote } from "../../store/types.ts";
import { lateness, timeSpan } from "../timing.ts";
import { leftOutWording, markerOf, recoveryWording, verdictWords } from "../wording.ts";
import { labelKey, labelMark } from "./label-line.ts";
import { isShownWhole, whatsappBold, whatsappLabel } from "./whatsapp-line.ts";

const MAX_UNITS = 4000;
const MAX_RULES = 8;
const MAX_RULE_UNITS = 60;
/** No line is longer, however few there are. */
const MAX_LINE_UNITS = 160;
/** Kept free for the line that counts what is not shown. */
const REST_UNITS = 40;

/** What a digest needs of a row. */
export type DigestRow = Pick<DueRow, "alert" | "isRepeat" | "waitedMs">;

/** The rows of one line, in order of arrival: alerts of one fingerprint and the same labels. */
type Line = readonly DigestRow[];

/**
 * One WhatsApp message for several alerts: counts by rule, then a line for each alert.
 *
 * Shape:     marker, name, what distinguishes it, time; the first 40 lines, in at most 4,000 UTF-16 units.
 * Behaviour: alerts of one fingerprint, as a firing one and its end, share a line, which shows the last state. Two
 *            lines of different labels are different. The sender's texts cannot make a line, formatting or a link.
 * Source:    design of the alarm, Floods stay readable.
 */
export function renderDigest(
  rows: readonly DigestRow[],
  { nowMs, note }: { nowMs: number; note: RecoveryNote },
): string {
  const lines = [...Map.groupBy(rows, ({ alert }) => labelKey(alert)).values()];
  const late = lateness(Math.max(...rows.map(({ waitedMs }) => waitedMs)));
  // Each alert has the number of its own post, so the largest is what is certain of several posts.
  const truncatedAlerts = Math.max(...rows.map(({ alert }) => alert.truncatedAlerts));
  const head = [
    headLine(lines),
    late === null ? null : `Mais antigo ${late}`,
    leftOutWording({ truncatedAlerts }),
    recoveryWording(note),
    ...ruleCounts(lines),
    "",
  ].filter((line) => line !== null);
  const units = MAX_UNITS - REST_UNITS - head.join("\n").length;
  const texts = lineTexts(lines.slice(0, DIGEST_LIMIT), { nowMs, units });
  const rest = leftOutWording({ truncatedAlerts: lines.length - texts.length }) ?? "";
  return truncate([...head, ...texts, rest].join("\n").trimEnd(), MAX_UNITS);
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

/** How many lines each rule has, most first; rules beyond the first ones together. */
function ruleCounts(lines: readonly Line[]): string[] {
  const byRule = [...Map.groupBy(lines, (line) => nameOf(lastOf(line).alert))];
  byRule.sort(([, a], [, b]) => b.length - a.length);
  const counts = byRule.map(([name, { length }]) => `${length} × ${truncate(name, MAX_RULE_UNITS) || "…"}`);
  const others = byRule.slice(MAX_RULES);
  if (others.length === 0) return counts;
  const rest = others.flatMap(([, each]) => each).length;
  const last = `${rest} de ${formatCount(others.length, "outra regra", "outras regras")}`;
  return [...counts.slice(0, MAX_RULES), last];
}

/** A text for each line; those that look alike say in what they differ, or have a mark made of all labels. */
function lineTexts(lines: readonly Line[], { nowMs, units }: { nowMs: number; units: number }): string[] {
  const share = Math.floor(units / lines.length) - "\n".length;
  const limits = { nowMs, maxUnits: Math.min(MAX_LINE_UNITS, share) };
  const plain = lines.map((line) => lineText(line, { difference: "", mark: "" }, limits));
  const distinct = lines.map((line, at) => {
    const alike = lines.filter((_, other) => plain[other] === plain[at]);
    const difference = alike.length === 1 ? "" : differenceOf(line, alike);
    return lineText(line, { difference, mark: "" }, limits);
  });
  return lines.map((line, at) => {
    const isAlone = distinct.filter((text) => text === distinct[at]).length === 1;
    const mark = labelMark(lastOf(line).alert);
    return isAlone ? distinct[at]! : lineText(line, { difference: "", mark }, limits);
  });
}

/** The values of the labels in which a line differs from others that look like it. */
function differenceOf(line: Line, alike: readonly Line[]): string {
  const labels = (each: Line) => lastOf(each).alert.labels;
  return Object.entries(labels(line))
    .filter(([name, value]) => !COMMON_LABELS.has(name) && isShownWhole(value))
    .filter(([name, value]) => alike.some((other) => labels(other)[name] !== value))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, value]) => whatsappLabel(value))
    .join(" ");
}

/** What the sender wrote is cut to fit, the longer texts first; the words of a verdict, mark and time stay whole. */
function lineText(
  line: Line,
  { difference, mark }: { difference: string; mark: string },
  { nowMs, maxUnits }: { nowMs: number; maxUnits: number },
): string {
  const { alert, isRepeat } = lastOf(line);
  const verdict = verdictWords(alert);
  const sent = [nameOf(alert), whatsappLabel(aboutAlert(alert)), difference].filter((text) => text !== "");
  const own = [mark, timeWords(line, isRepeat, nowMs)].filter((text) => text !== "");
  const marker = `${markerOf(alert)} `;
  const fixed = `${marker} ${verdict}`.length + [...sent.map(() => ""), ...own].join(" · ").length;
  const [name, ...others] = shared(sent, maxUnits - fixed);
  return marker + [verdict === "" ? name : `${name} ${verdict}`, ...others, ...own].join(" · ");
}

/** Texts cut so that together they have at most `units`: short ones stay whole, longer ones share what is left. */
function shared(texts: readonly string[], units: number): string[] {
  const cut = [...texts];
  const order = [...cut.keys()].sort((a, b) => texts[a]!.length - texts[b]!.length);
  let left = Math.max(0, units);
  for (const [done, at] of order.entries()) {
    cut[at] = truncate(texts[at]!, Math.floor(left / (order.length - done))) || "…";
    left -= cut[at].length;
  }
  return cut;
}

function timeWords(line: Line, isRepeat: boolean, nowMs: number): string {
  const { alert } = lastOf(line);
  const span = timeSpan(alert, nowMs);
  const since = span === null ? "" : `${isRepeat && alert.firing ? "desde " : ""}${span}`;
  return `${since}${line.length > 2 ? ` (${line.length} avisos)` : ""}`.trim();
}

function nameOf({ name }: Alert): string {
  return whatsappBold(name ?? "") || NAMELESS;
}

function lastOf(line: Line): DigestRow {
  return line.at(-1)!;
}
