import { type Html, html } from "../../text/html.ts";
import type { ScoreTrend, ScoreView } from "../texts/score-text.ts";
import { BAR_COLOURS, STYLE, TREND_COLOURS } from "./style.ts";
import { SCORE_ABSENT_TEXT } from "./wording.ts";

const ARROWS: Record<ScoreTrend, string> = { up: "▲ ", down: "▼ ", flat: "", unknown: "" };

/** The score with its change, or the sentence that there is none yet. */
export function scoreHtml(view: ScoreView): Html {
  if (view.score === null) {
    return html`<p style="${STYLE.scoreLabel}">Score geral</p>
<p style="${STYLE.noScore}">${view.line}</p>
<p style="${STYLE.heroNote}">${SCORE_ABSENT_TEXT}</p>`;
  }
  const arrow = ARROWS[view.trend];
  return html`<p style="${STYLE.scoreLabel}">Score geral</p>
<p style="${STYLE.score}">${view.score}<span style="${STYLE.scoreOutOf}">/100</span></p>
${scoreBar(view.score, view.previous)}
<p style="${STYLE.heroNote};font-weight:600;color:${TREND_COLOURS[view.trend]}">${arrow === "" ? null : html`<span aria-hidden="true">${arrow}</span>`}${view.change}</p>`;
}

/**
 * The score on a line from 0 to 100, with what was gained or lost since the week before in a colour of its own.
 *
 * Shape: a table of coloured cells, since mail clients draw no graphics; cells without width are left out.
 */
function scoreBar(score: number, previous: number | null): Html {
  const before = previous ?? score;
  const segments = [
    { width: Math.min(score, before), colour: BAR_COLOURS.score },
    { width: Math.abs(score - before), colour: score > before ? BAR_COLOURS.gain : BAR_COLOURS.loss },
    { width: 100 - Math.max(score, before), colour: BAR_COLOURS.track },
  ].filter(({ width }) => width > 0);
  const label =
    previous === null ? `Barra: ${score} de 100` : `Barra: ${score} de 100; semana anterior, ${previous}`;
  return html`<table role="img" aria-label="${label}" width="100%" cellpadding="0" cellspacing="0" border="0" style="margin-top:14px;border-collapse:separate;border-radius:6px;overflow:hidden;table-layout:fixed"><tr>${segments.map(segmentCell)}</tr></table>
<table role="presentation" aria-hidden="true" width="100%" cellpadding="0" cellspacing="0" border="0"><tr><td style="${STYLE.barScale}" align="left">0</td><td style="${STYLE.barScale}" align="right">100</td></tr></table>`;
}

function segmentCell({ width, colour }: { width: number; colour: string }, index: number): Html {
  const gap = index === 0 ? "" : `;border-left:2px solid ${BAR_COLOURS.gap}`;
  return html`<td width="${width}%" bgcolor="${colour}" style="width:${width}%;height:12px;line-height:12px;font-size:0;background-color:${colour}${gap}">&nbsp;</td>`;
}
