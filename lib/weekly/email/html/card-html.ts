import { type Html, html } from "../../../text/html.ts";
import type { CardView } from "../card.ts";
import type { FigureView } from "../figures/figures.ts";
import { moreText } from "../wording.ts";
import { mainChangeHtml, smallChangeHtml } from "./change-html.ts";
import { PILL_STYLE, STYLE } from "./style.ts";

const TABLE = html`role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"`;

/** The size of a large figure by the most characters that fit three beside each other on a phone. */
const VALUE_SIZES = [
  { characters: 6, px: 24 },
  { characters: 8, px: 20 },
  { characters: 10, px: 16 },
];
const SMALLEST_VALUE_PX = 14;

/** A short figure is never broken, a long one may be. */
const MAX_WHOLE_CHARACTERS = 16;

/** A channel's card, as a row of the e-mail's column. */
export function cardHtml(card: CardView): Html {
  return card.isLine ? lineHtml(card) : wholeHtml(card);
}

/** The card of a channel that reports do not cover yet: name and note on one line. */
function lineHtml({ name, note }: CardView): Html {
  return html`<tr><td class="card card-line" bgcolor="#ffffff" style="${STYLE.cardLine}"><table ${TABLE}><tr>
<td valign="middle"><h3 class="ink" style="${STYLE.cardName}">${name}</h3></td>
${note === null ? null : html`<td valign="middle" align="right"><p class="muted" style="${STYLE.lineNote}">${note}</p></td>`}
</tr></table></td></tr>
`;
}

function wholeHtml(card: CardView): Html {
  const { name, note, main, comparison, small, zeros, absent, more } = card;
  return html`<tr><td class="card panel" bgcolor="#ffffff" style="${STYLE.card}">
${headHtml(card)}
${noteHtml(note)}
${main.length === 0 ? null : html`<table ${TABLE} style="${STYLE.main}"><tr>${main.map(mainHtml)}</tr></table>`}
${noteHtml(comparison)}
${small.length === 0 ? null : smallTable(small, name)}
${noteHtml(zeros)}
${noteHtml(absent)}
${noteHtml(more === 0 ? null : moreText(more, "número", "números"))}
</td></tr>
`;
}

function headHtml({ name, coverage, coverageLabel }: CardView): Html {
  const title = html`<h3 class="ink" style="${STYLE.cardName}">${name}</h3>`;
  if (coverageLabel === null) return title;
  return html`<table ${TABLE}><tr>
<td valign="middle">${title}</td>
<td valign="middle" align="right"><span class="pill-${coverage}" style="${PILL_STYLE[coverage]}">${coverageLabel}</span></td>
</tr></table>`;
}

function noteHtml(note: string | null): Html | null {
  return note === null ? null : html`<p class="muted" dir="auto" style="${STYLE.note}">${note}</p>`;
}

function mainHtml({ label, value, change }: FigureView, _: number, { length }: { length: number }): Html {
  const share = Math.floor(100 / length);
  const px = VALUE_SIZES.find(({ characters }) => value!.length <= characters)?.px ?? SMALLEST_VALUE_PX;
  return html`<td valign="top" width="${share}%" style="${STYLE.mainCell}"><p class="ink" style="${STYLE.mainValue};font-size:${px}px">${value}</p><p class="muted" dir="auto" style="${STYLE.mainLabel}">${label}</p>${change === null ? null : mainChangeHtml(change)}</td>`;
}

function smallTable(figures: FigureView[], name: string): Html {
  const isCompared = figures.some(({ change }) => change !== null);
  return html`<table width="100%" cellpadding="0" cellspacing="0" border="0" aria-label="${name}" style="${STYLE.small}">${figures.map((figure) => smallRow(figure, isCompared))}</table>`;
}

function smallRow({ label, value, change }: FigureView, isCompared: boolean): Html {
  return html`<tr><th scope="row" class="muted" dir="auto" style="${STYLE.smallLabel}">${label}</th><td class="ink" style="${STYLE.smallValue}${unbroken(value!)}">${value}</td>${isCompared ? changeCell(change) : null}</tr>
`;
}

function changeCell(change: FigureView["change"]): Html {
  return change === null ? html`<td>&nbsp;</td>` : smallChangeHtml(change, unbroken(change.text));
}

function unbroken({ length }: string): string {
  return length <= MAX_WHOLE_CHARACTERS ? ";white-space:nowrap" : "";
}
