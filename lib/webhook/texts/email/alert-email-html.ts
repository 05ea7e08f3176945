import { type Html, html } from "../../../text/html.ts";

/** What both parts of the e-mail show, as plain text. */
export type AlertEmailView = {
  subject: string;
  why: string;
  alerts: readonly AlertView[];
  /** Further alerts, a line each. */
  lines: readonly string[];
};

/** One alert of it. */
export type AlertView = {
  marker: string;
  title: string;
  state: string;
  delivery: string;
  texts: readonly string[];
  labels: string | null;
  value: string | null;
  links: readonly { word: string; href: string }[];
};

const FONT = "font-family:-apple-system,BlinkMacSystemFont,Segoe UI,Roboto,Helvetica,Arial,sans-serif";
const BREAK = "overflow-wrap:anywhere;word-break:break-word";
const STYLE = {
  page: `margin:0;padding:12px;background-color:#eef2f4;color:#17252d;${FONT};-webkit-text-size-adjust:100%`,
  column: "max-width:600px;margin:0 auto",
  why: `margin:0 0 12px;padding:12px 14px;background-color:#fdeccd;color:#5c3803;border-radius:10px;font-size:15px;line-height:22px;${BREAK}`,
  panel: "margin:0 0 12px;padding:16px;background-color:#ffffff;border-radius:12px",
  title: `margin:0 0 4px;font-size:18px;line-height:25px;font-weight:700;${BREAK}`,
  text: `margin:0 0 8px;font-size:16px;line-height:24px;${BREAK}`,
  note: `margin:0 0 8px;font-size:14px;line-height:21px;color:#51606b;${BREAK}`,
  link: "color:#0b645e;text-decoration:underline",
} as const;

const STYLE_SHEET = html`<style>
:root{color-scheme:light dark;supported-color-schemes:light dark}
@media (prefers-color-scheme:dark){
.page{background-color:#0c1418!important;color:#e6edf1!important}
.panel{background-color:#162127!important}
.why{background-color:#4a3610!important;color:#f8d691!important}
.muted{color:#a9b8c2!important}
.accent{color:#7fd8c8!important}
}
</style>`;

/** The HTML part of the e-mail about alerts. */
export function alertEmailHtml({ subject, why, alerts, lines }: AlertEmailView): Html {
  return html`<!DOCTYPE html>
<html lang="pt-BR" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="format-detection" content="telephone=no,date=no,address=no,email=no,url=no">
<title>${subject}</title>
${STYLE_SHEET}
</head>
<body class="page" style="${STYLE.page}">
<div style="${STYLE.column}">
<p class="why" style="${STYLE.why}">${why}</p>
${alerts.map(alertPanel)}
${
  lines.length === 0
    ? null
    : html`<div class="panel" style="${STYLE.panel};font-size:16px;line-height:24px;${BREAK}">${lines.map(
        (line) => html`<div dir="auto">${line}</div>
`,
      )}</div>`
}
</div>
</body>
</html>
`;
}

function alertPanel({ marker, title, state, delivery, texts, labels, value, links }: AlertView): Html {
  return html`<div class="panel" style="${STYLE.panel}">
<h2 dir="auto" style="${STYLE.title}">${marker} ${title}</h2>
<p class="muted" style="${STYLE.note}">${state}</p>
${texts.map((text) => html`<p dir="auto" style="${STYLE.text}">${text}</p>\n`)}
${value === null ? null : html`<p style="${STYLE.text}">Valor: <strong>${value}</strong></p>`}
${labels === null ? null : html`<p class="muted" dir="auto" style="${STYLE.note}">${labels}</p>`}
<p class="muted" style="${STYLE.note}">${delivery}.</p>
${links.length === 0 ? null : html`<p style="${STYLE.text}">${links.map(link)}</p>`}
</div>
`;
}

function link({ word, href }: AlertView["links"][number], at: number): Html {
  return html`${at === 0 ? null : " · "}<a class="accent" href="${href}" style="${STYLE.link}">${word}</a>`;
}
