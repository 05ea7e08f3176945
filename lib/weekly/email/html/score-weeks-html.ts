import { type Html, html } from "../../../text/html.ts";
import type { ScoreWeek, ScoreWeeksView } from "../score-weeks.ts";
import { BAR_COLOURS, STYLE } from "./style.ts";

/** The height of a score of 100. */
const FULL_HEIGHT_PX = 48;

/** A measured zero has a bar as well, an absent score has none. */
const LOWEST_PX = 3;
const EMPTY_PX = 1;

/** The last weeks as bars: table cells, since mail clients draw no graphics. */
export function scoreWeeksHtml({ weeks, label, note }: ScoreWeeksView): Html {
  const last = weeks.length - 1;
  return html`<table role="img" aria-label="${label}" width="100%" cellpadding="0" cellspacing="0" border="0" style="${STYLE.weeks}"><tr>${weeks.map((week, index) => bar(week, index === last))}</tr>${days(weeks)}</table>
${note === null ? null : html`<p style="${STYLE.heroNote}">${note}</p>`}`;
}

function bar({ score }: ScoreWeek, isNow: boolean): Html {
  const height = score === null ? EMPTY_PX : Math.max(LOWEST_PX, Math.round((score * FULL_HEIGHT_PX) / 100));
  const colour = score === null ? BAR_COLOURS.empty : isNow ? BAR_COLOURS.now : BAR_COLOURS.before;
  return html`<td align="center" valign="bottom"><p style="${isNow ? STYLE.weekScoreNow : STYLE.weekScore}">${score ?? "–"}</p><table role="presentation" width="22" align="center" cellpadding="0" cellspacing="0" border="0"><tr><td height="${height}" bgcolor="${colour}" style="line-height:${height}px;font-size:0;mso-line-height-rule:exactly;border-radius:3px 3px 0 0">&nbsp;</td></tr></table></td>`;
}

/** Of eight dates a phone has no room for letters that can be read: the ends of the row say what it is. */
function days(weeks: readonly ScoreWeek[]): Html {
  const half = weeks.length / 2;
  return html`<tr><td align="left" colspan="${half}" style="${STYLE.weekDay}">Semana de ${weeks[0]!.day}</td><td align="right" colspan="${half}" style="${STYLE.weekDay}">Semana de ${weeks.at(-1)!.day}</td></tr>`;
}
