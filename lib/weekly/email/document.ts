import { type Html, html } from "../../text/html.ts";
import { cardHtml } from "./card-html.ts";
import { scoreHtml } from "./score-html.ts";
import { STYLE, STYLE_SHEET } from "./style.ts";
import type { EmailView, ReadingView, StepView } from "./view.ts";
import { moreText, READINGS_EMPTY_TEXT, weekNote } from "./wording.ts";

/** Invisible characters, so that an inbox does not fill its preview line with the text that follows. */
const PREVIEW_FILLER = Array.from({ length: 50 }, () => html`&#847;&zwnj;&nbsp;`);

const GAP = html`<tr><td style="${STYLE.gap}">&nbsp;</td></tr>`;

/** The HTML part of the weekly e-mail. */
export function emailDocument(view: EmailView): Html {
  return html`<!DOCTYPE html>
<html lang="pt-BR" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<meta name="format-detection" content="telephone=no,date=no,address=no,email=no,url=no">
<meta name="x-apple-disable-message-reformatting">
<title>${view.subject}</title>
${STYLE_SHEET}
</head>
<body class="page" style="${STYLE.page}">
<div style="${STYLE.preheader}">${view.preheader}${PREVIEW_FILLER}</div>
<div role="article" aria-roledescription="e-mail" aria-label="${view.subject}" lang="pt-BR">
<table role="presentation" class="page" width="100%" cellpadding="0" cellspacing="0" border="0" bgcolor="#eef2f4"><tr><td class="gutter" align="center" style="padding:24px 16px 0">
<!--[if mso]><table role="presentation" width="600" cellpadding="0" cellspacing="0" border="0"><tr><td><![endif]-->
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="${STYLE.column}">
<tr><td class="hero" bgcolor="#0d3b3c" style="${STYLE.hero}">
<p style="${STYLE.eyebrow}">${view.days}</p>
<h1 style="${STYLE.title}">Seu desempenho semanal</h1>
${scoreHtml(view.score)}
</td></tr>
${GAP}
${panel("Leitura da semana", readings(view))}
${GAP}
${panel("Seus canais", html`${view.cards.map(cardHtml)}`)}
${GAP}
${panel("Próximos passos", html`${steps(view.steps)}${button(view.link)}`)}
<tr><td class="footer muted" align="center" style="${STYLE.footer}">${weekNote(view.days)}</td></tr>
</table>
<!--[if mso]></td></tr></table><![endif]-->
</td></tr></table>
</div>
</body>
</html>
`;
}

function panel(title: string, content: Html): Html {
  return html`<tr><td class="panel" bgcolor="#ffffff" style="${STYLE.panel}">
<h2 class="ink" style="${STYLE.h2}">${title}</h2>
${content}
</td></tr>`;
}

function readings({ readings: channels, coverage }: EmailView): Html {
  const lists =
    channels.length === 0
      ? html`<p class="ink" style="${STYLE.text}">${READINGS_EMPTY_TEXT}</p>`
      : html`${channels.map(reading)}`;
  return html`${lists}
<p class="box" style="${STYLE.coverage}">${coverage}</p>`;
}

function reading({ channel, items, more }: ReadingView): Html {
  return html`<h3 class="accent" style="${STYLE.readingName}">${channel}</h3>
<ul style="${STYLE.readingList}">${items.map(
    (item) => html`<li class="ink" dir="auto" style="${STYLE.readingItem}">${item}</li>`,
  )}${more === 0 ? null : html`<li class="muted" style="${STYLE.readingItem}">${moreText(more, "leitura", "leituras")}</li>`}</ul>
`;
}

function steps(list: StepView[]): Html {
  return html`<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0">${list.map(step)}</table>`;
}

function step({ label, href }: StepView, index: number): Html {
  const text =
    href === null ? label : html`<a class="accent" href="${href}" style="${STYLE.link}">${label}</a>`;
  return html`<tr><td valign="top" width="28" style="padding:6px 0"><div class="number" style="${STYLE.stepNumber}">${index + 1}</div></td><td valign="top" style="padding:6px 0"><div class="ink" dir="auto" style="${STYLE.stepLabel}">${text}</div></td></tr>
`;
}

function button(link: string): Html {
  return html`<table role="presentation" class="button" align="center" cellpadding="0" cellspacing="0" border="0" style="margin:22px auto 0"><tr><td bgcolor="#0b6b65" style="${STYLE.buttonCell}"><a href="${link}" style="${STYLE.button}">Ver relatório completo</a></td></tr></table>`;
}
