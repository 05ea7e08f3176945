import { formatCount } from "../../../text/pt-br.ts";
import { truncate } from "../../../text/truncate.ts";
import { aboutAlert, COMMON_LABELS } from "../../alert/about.ts";
import { endedUnmeasured } from "../../alert/state-reason.ts";
import type { DueRow, RecoveryNote } from "../../store/model.ts";
import { lateness, timeSpan } from "../duration.ts";
import { isShownWhole, whatsappLabel, whatsappName } from "../sender-text.ts";
import { joined, leftOutWording, markerOf, recoveryWording, verdictWords } from "../wording.ts";
import { labelKey, labelMark } from "./label-line.ts";

const MAX_UNITS = 4000;
const MAX_RULES = 8;
const MAX_RULE_UNITS = 60;
/** No line is longer, however few there are. */
const MAX_LINE_UNITS = 160;

/** What a digest needs of a row. */
export type DigestRow = Pick<DueRow, "alert" | "isRepeat" | "waitedMs">;

/** The newest of the rows of one fingerprint and the same labels, and how many they are. */
type Line = DigestRow & { notices: number };

/**
 * One WhatsApp message for several alerts: counts by rule, then a line for each alert.
 *
 * Shape:     marker, name, what distinguishes it, time; at most 4,000 UTF-16 units.
 * Behaviour: alerts of one fingerprint, as a firing one and its end, share a line, which shows the last state. Two
 *            lines of different labels are different. The sender's texts cannot make a line, formatting or a link.
 * Source:    design of the alarm, Floods stay readable.
 */
export function renderDigest(
  rows: readonly DigestRow[],
  { nowMs, note }: { nowMs: number; note: RecoveryNote },
): string {
  const groups = [...Map.groupBy(rows, ({ alert }) => labelKey(alert)).values()];
  const lines = groups.map((group) => ({ ...group.at(-1)!, notices: group.length }));
  const late = lateness(Math.max(...rows.map(({ waitedMs }) => waitedMs)));
  // Each alert has the number of its own post, so the largest is what is certain of several posts.
  const truncatedAlerts = Math.max(...rows.map(({ alert }) => alert.truncatedAlerts));
  const oldest = late && `Mais antigo ${late}`;
  const facts = [oldest, leftOutWording({ truncatedAlerts }), recoveryWording(note)];
  const head = joined([headLine(lines), ...facts, ...ruleCounts(lines)], "\n");
  const unitsEach = Math.floor((MAX_UNITS - `${head}\n`.length) / lines.length) - "\n".length;
  const texts = lineTexts(lines, { nowMs, maxUnits: Math.min(MAX_LINE_UNITS, unitsEach) });
  return truncate([head, "", ...texts].join("\n"), MAX_UNITS);
}

function headLine(lines: readonly Line[]): string {
  const unmeasured = lines.filter(({ alert }) => endedUnmeasured(alert)).length;
  const resolved = lines.filter(({ alert }) => alert.status === "resolved").length - unmeasured;
  const active = lines.length - resolved - unmeasured;
  const states = [
    `📋 *${formatCount(lines.length, "alerta nesta mensagem", "alertas nesta mensagem")}*`,
    active > 0 ? formatCount(active, "ativo", "ativos") : null,
    resolved > 0 ? formatCount(resolved, "resolvido", "resolvidos") : null,
    unmeasured > 0 ? formatCount(unmeasured, "encerrado sem medição", "encerrados sem medição") : null,
  ];
  return joined(states, " · ");
}

/** How many lines each rule has, most first; rules beyond the first ones together. */
function ruleCounts(lines: readonly Line[]): string[] {
  const byRule = [...Map.groupBy(lines, ({ alert }) => whatsappName(alert.name))];
  byRule.sort(([, a], [, b]) => b.length - a.length);
  const counts = byRule.map(([name, { length }]) => `${length} × ${truncate(name, MAX_RULE_UNITS) || "…"}`);
  const others = byRule.slice(MAX_RULES).map(([, { length }]) => length);
  if (others.length === 0) return counts;
  const rest = others.reduce((sum, length) => sum + length);
  return [
    ...counts.slice(0, MAX_RULES),
    `${rest} de ${formatCount(others.length, "outra regra", "outras regras")}`,
  ];
}

type Limits = { nowMs: number; maxUnits: number };

/** A text for each line; those that look alike say in what they differ, or have a mark made of all labels. */
function lineTexts(lines: readonly Line[], limits: Limits): string[] {
  const plain = lines.map((line) => lineText(line, limits));
  const distinct = lines.map((line, at) => {
    const alike = lines.filter((_, other) => plain[other] === plain[at]);
    return lineText(line, limits, differenceOf(line, alike));
  });
  return lines.map((line, at) => {
    const isAlone = distinct.filter((text) => text === distinct[at]).length === 1;
    return isAlone ? distinct[at]! : lineText(line, limits, "", labelMark(line.alert));
  });
}

/** The values of the labels in which a line differs from others that look like it. */
function differenceOf({ alert }: Line, alike: readonly Line[]): string {
  return Object.entries(alert.labels)
    .filter(([name, value]) => !COMMON_LABELS.has(name) && isShownWhole(value))
    .filter(([name, value]) => alike.some((other) => other.alert.labels[name] !== value))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, value]) => whatsappLabel(value))
    .join(" ");
}

/** What the sender wrote is cut to fit, the longer texts first; the words of a verdict, mark and time stay whole. */
function lineText(line: Line, { nowMs, maxUnits }: Limits, difference = "", mark = ""): string {
  const { alert } = line;
  const texts = [whatsappName(alert.name), whatsappLabel(aboutAlert(alert)), difference];
  const sent = texts.filter((text) => text !== "");
  const compose = ([name, ...others]: readonly string[]) => {
    const first = joined([markerOf(alert), name!, verdictWords(alert)], " ");
    return joined([first, ...others, mark, timeWords(line, nowMs)], " · ");
  };
  const fixed = compose(sent).length - sent.join("").length;
  return compose(shared(sent, maxUnits - fixed));
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

function timeWords({ alert, isRepeat, notices }: Line, nowMs: number): string {
  const span = timeSpan(alert, nowMs) ?? "";
  const since = span !== "" && isRepeat && alert.firing ? "desde " : "";
  return `${since}${span}${notices > 2 ? ` (${notices} avisos)` : ""}`.trim();
}
