import { type Html, html } from "../../../text/html.ts";
import type { ScoreView } from "../../texts/score-text.ts";
import { SCORE_ABSENT_TEXT } from "../wording.ts";
import { ARROWS, STYLE, TREND_COLOURS } from "./style.ts";

/** The score with its change, or the sentence that there is none yet. */
export function scoreHtml(view: ScoreView): Html {
  if (view.score === null) {
    return html`<p style="${STYLE.noScore}">${view.line}</p>
<p style="${STYLE.heroNote}">${SCORE_ABSENT_TEXT}</p>`;
  }
  return html`<p style="${STYLE.scoreLabel}">Score geral</p>
<p style="${STYLE.score}">${view.score}<span style="${STYLE.scoreOutOf}">/100</span></p>
${changeHtml(view)}`;
}

function changeHtml({ trend, change }: ScoreView): Html {
  if (trend === "unknown") return html`<p style="${STYLE.heroNote}">${change}</p>`;
  return html`<p style="${STYLE.scoreChange};color:${TREND_COLOURS[trend]}"><span aria-hidden="true">${ARROWS[trend]} </span>${change}</p>`;
}
