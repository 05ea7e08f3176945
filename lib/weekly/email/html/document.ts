import { type Html, html } from "../../../text/html.ts";
import type { Highlight } from "../figures/largest-changes.ts";
import type { EmailView, StepView } from "../view.ts";
import { BUTTON_TEXT, moreText, READINGS_EMPTY_TEXT, UNSUBSCRIBE_TEXT } from "../wording.ts";
import { cardHtml } from "./card-html.ts";
import { scoreHtml } from "./score-html.ts";
import { scoreWeeksHtml } from "./score-weeks-html.ts";
import { BUTTON_STYLE, GROUNDS, OUTLOOK_HEAD, STYLE, STYLE_SHEET, TONE_COLOURS } from "./style.ts";

/**
 * Invisible characters, so that an inbox does not fill its preview line with the text that follows: a grapheme joiner,
 * a non-joiner and a blank that does not break, as they are, because their entities are three times as long.
 */
const PREVIEW_FILLER = "\u034F\u200C\u00A0".repeat(50);

const GAP = html`<tr><td height="10" style="${STYLE.gap}">&nbsp;</td></tr>
`;

/** The HTML part of the weekly e-mail. */
export function emailDocument(view: EmailView): Html {
  return html`<!DOCTYPE html>
<html lang="pt-BR" dir="ltr" xmlns:o="urn:schemas-microsoft-com:office:office">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<meta name="format-detection" content="telephone=no,date=no,address=no,email=no,url=no">
<meta name="x-apple-disable-message-reformatting">
<title>${view.subject}</title>
${OUTLOOK_HEAD}
${STYLE_SHEET}
</head>
<body class="page" style="${STYLE.page}">
<div style="${STYLE.preheader}">${view.preheader}${PREVIEW_FILLER}</div>
<div role="article" aria-roledescription="e-mail" aria-label="${view.subject}" lang="pt-BR">
<table role="presentation" class="page" width="100%" cellpadding="0" cellspacing="0" border="0" bgcolor="${GROUNDS.page}"><tr><td class="gutter" align="center" style="${STYLE.gutter}">
<!--[if mso]><table role="presentation" width="600" cellpadding="0" cellspacing="0" border="0"><tr><td><![endif]-->
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="${STYLE.column}">
${head(view)}
${GAP}
${panel("Leitura da semana", readings(view), STYLE.readings)}
<tr><td class="section" style="${STYLE.section}"><h2 class="ink" style="${STYLE.h2}">Seus canais</h2>${muted(view.comparison)}</td></tr>
${view.cards.map((card) => html`${cardHtml(card)}${GAP}`)}
${panel("Próximos passos", html`${steps(view.steps)}${button(view.link, "end")}`, STYLE.panel)}
${footer(view)}
</table>
<!--[if mso]></td></tr></table><![endif]-->
</td></tr></table>
</div>
</body>
</html>
`;
}

/** Who, when, how it went, what to do first, and the way to all of it. */
function head({ name, days, score, scoreWeeks, nextStep, link }: EmailView): Html {
  return html`<tr><td class="hero" bgcolor="${GROUNDS.hero}" style="${STYLE.hero}">
${name === null ? null : html`<p dir="auto" style="${STYLE.name}">${name}</p>`}
<h1 style="${name === null ? STYLE.titleAlone : STYLE.title}">Seu desempenho semanal</h1>
<p style="${STYLE.days}">${days}</p>
${scoreHtml(score)}
${scoreWeeks === null ? null : scoreWeeksHtml(scoreWeeks)}
${nextStep === null ? null : html`<p style="${STYLE.heroNote}">${nextStep}</p>`}
${button(link, "head")}
</td></tr>`;
}

function panel(title: string, content: Html, style: string): Html {
  return html`<tr><td class="panel" bgcolor="#ffffff" style="${style}">
<h2 class="ink" style="${STYLE.h2}">${title}</h2>
${content}
</td></tr>`;
}

function readings({ highlights, readings: { groups, more } }: EmailView): Html {
  if (highlights.length + groups.length === 0)
    return html`<p class="ink" style="${STYLE.text}">${READINGS_EMPTY_TEXT}</p>`;
  return html`${highlights.map(highlight)}${groups.map(
    ({ channel, items }) => html`<h3 class="accent" style="${STYLE.readingName}">${channel}</h3>
${items.map(
  (item) => html`<p class="ink" dir="auto" style="${STYLE.readingItem}">${item}</p>
`,
)}`,
  )}${muted(more === 0 ? null : moreText(more, "destaque", "destaques"))}`;
}

function highlight({ tone, title, text }: Highlight): Html {
  return html`<h3 class="${tone}" style="${STYLE.highlightName};color:${TONE_COLOURS[tone]}">${title}</h3>
<p class="ink" style="${STYLE.highlight}">${text}</p>
`;
}

function muted(text: string | null): Html | null {
  return text === null ? null : html`<p class="muted" style="${STYLE.note}">${text}</p>`;
}

function steps(list: StepView[]): Html {
  return html`<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="margin:14px 0 0">${list.map(step)}</table>`;
}

function step({ label, href }: StepView, index: number): Html {
  const text =
    href === null ? label : html`<a class="accent" href="${href}" style="${STYLE.link}">${label}</a>`;
  return html`<tr><td valign="top" width="28"><table role="presentation" cellpadding="0" cellspacing="0" border="0"><tr><td class="number" width="28" height="28" align="center" bgcolor="${GROUNDS.number}" style="${STYLE.stepNumber}">${index + 1}</td></tr></table></td><td class="ink" dir="auto" valign="top" style="${STYLE.stepLabel}">${text}</td></tr>
`;
}

function button(link: string, place: keyof typeof BUTTON_STYLE): Html {
  const { ground, cell, link: style } = BUTTON_STYLE[place];
  return html`<table role="presentation" class="button" cellpadding="0" cellspacing="0" border="0" style="margin:20px 0 0"><tr><td align="center" bgcolor="${ground}" style="${cell}"><a href="${link}" style="${style}">${BUTTON_TEXT}</a></td></tr></table>`;
}

function footer({ coverage, notes, unsubscribe }: EmailView): Html {
  const stop =
    unsubscribe === null
      ? null
      : html`<p class="muted" style="${STYLE.footerLink}"><a class="muted" href="${unsubscribe}" style="${STYLE.unsubscribe}">${UNSUBSCRIBE_TEXT}</a></p>`;
  return html`<tr><td class="footer" style="${STYLE.footer}">
${[coverage, ...notes].map(
  (note) => html`<p class="muted" dir="auto" style="${STYLE.footerNote}">${note}</p>
`,
)}${stop}</td></tr>`;
}
