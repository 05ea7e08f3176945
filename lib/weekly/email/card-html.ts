import { type Html, html } from "../../text/html.ts";
import type { CardView, FigureView } from "./card.ts";
import { PILL_STYLE, STYLE } from "./style.ts";
import { moreText } from "./wording.ts";

/** Fewer figures than this stand in one column, also on a wide screen. */
const MIN_FIGURES_FOR_TWO_COLUMNS = 4;

/** A channel's card. */
export function cardHtml(card: CardView): Html {
  const { name, coverage, coverageLabel, note, figures, more } = card;
  return html`<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="margin-top:12px;border-collapse:separate"><tr><td class="card line" style="${STYLE.card}">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"><tr>
<td valign="middle"><h3 class="ink" style="${STYLE.cardName}">${name}</h3></td>
<td valign="middle" align="right"><span class="pill-${coverage}" style="${PILL_STYLE[coverage]}">${coverageLabel}</span></td>
</tr></table>
${note === null ? null : html`<p class="muted" dir="auto" style="${STYLE.note};padding-top:8px">${note}</p>`}
${figures.length === 0 ? null : figuresHtml(figures, name)}
${more === 0 ? null : html`<p class="muted" style="${STYLE.note};padding-top:8px">${moreText(more, "número", "números")}</p>`}
</td></tr></table>`;
}

/** Two columns side by side on a wide screen, one below the other on a phone. */
function figuresHtml(figures: FigureView[], name: string): Html {
  if (figures.length < MIN_FIGURES_FOR_TWO_COLUMNS)
    return html`<div style="padding-top:10px">${column(figures, name)}</div>`;
  const half = Math.ceil(figures.length / 2);
  return html`<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="margin-top:10px;table-layout:fixed"><tr>
<td class="half" valign="top" width="50%" style="padding-right:14px">${column(figures.slice(0, half), name)}</td>
<td class="half" valign="top" width="50%" style="padding-left:14px">${column(figures.slice(half), name)}</td>
</tr></table>`;
}

function column(figures: FigureView[], name: string): Html {
  return html`<table width="100%" cellpadding="0" cellspacing="0" border="0" aria-label="${name}">${figures.map(figureRow)}</table>`;
}

function figureRow({ label, value, known }: FigureView): Html {
  const valueClass = known ? "ink line" : "muted line";
  return html`<tr><th scope="row" class="muted line" dir="auto" style="${STYLE.figureLabel}">${label}</th><td class="${valueClass}" align="right" style="${known ? STYLE.figureValue : STYLE.figureAbsent}">${value}</td></tr>
`;
}
