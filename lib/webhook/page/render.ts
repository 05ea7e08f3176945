import { type Html, html } from "../../../text/html.ts";
import { formatNumber } from "../../../text/pt-br.ts";
import { Temporal } from "../../../time/temporal.ts";
import { formatAlertTime } from "../../alert/time.ts";
import type { PageFacts } from "./read-page.ts";
import { renderAlerts } from "./render-alerts.ts";
import { renderLost } from "./render-lost.ts";
import { renderPeers } from "./render-peers.ts";
import { renderPlot } from "./render-plot.ts";
import { STYLE } from "./style.ts";
import { type Level, pageVerdict, type Verdict } from "./verdict.ts";
import { LEVEL_WORDS, reasonAdvice } from "./wording.ts";

/** Strokes on a circle of 24 by 24: a tick, an exclamation mark, a cross. */
const SIGNS: Readonly<Record<Level, string>> = {
  ok: "M7 12.5l3.4 3.4L17 9",
  warn: "M12 6.5v7M12 17v.2",
  bad: "M8 8l8 8M16 8l-8 8",
};

/** The colour of the sign in a browser's tab, the same in light and dark. */
const TAB_COLOURS: Readonly<Record<Level, string>> = { ok: "1f9d63", warn: "e0a100", bad: "d9352a" };

/**
 * The page that shows the alarm: a whole HTML document.
 *
 * Shape:     no script, nothing from elsewhere; a browser loads it again each minute.
 * Behaviour: texts of alerts are shown on one line and cannot become markup, links or styles.
 */
export function renderPage(facts: PageFacts): Html {
  const { state, nowMs } = facts;
  const verdict = pageVerdict(facts);
  return html`<!DOCTYPE html>
<html lang="pt-BR" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="format-detection" content="telephone=no,date=no,address=no,email=no">
<meta http-equiv="refresh" content="60">
<title>${LEVEL_WORDS[verdict.level]} · alarme</title>
<link rel="icon" href="${tabIcon(verdict.level)}">
${STYLE}
</head>
<body>
<main>
${renderVerdict(verdict, facts)}${renderPeers(facts)}${
  state === null
    ? null
    : html`${renderLost(state.lost, nowMs)}${renderPlot(state.hours, nowMs)}${renderAlerts(state.recent, nowMs)}`
}<footer class="note">${footer(facts)}</footer>
</main>
</body>
</html>
`;
}

function renderVerdict({ level, reasons }: Verdict, { nowMs }: PageFacts): Html {
  const lines = reasons.map((reason) => reasonAdvice(reason, nowMs));
  return html`<header class="panel verdict ${level}">
<h1><svg viewBox="0 0 24 24" aria-hidden="true"><circle cx="12" cy="12" r="11"></circle><path d="${SIGNS[level]}"></path></svg>${LEVEL_WORDS[level]}</h1>
${
  lines.length === 0
    ? html`<p class="note">Nada parado, nada recusado, nada desistido.</p>`
    : html`<ul>${lines.map(({ text, command }) => html`<li>${text}${command === null ? null : html` <code>${command}</code>`}</li>`)}</ul>`
}
</header>
`;
}

function footer({ nowMs, isLeading, state }: PageFacts): string {
  const time = formatAlertTime(Temporal.Instant.fromEpochMilliseconds(nowMs).toString()) ?? "";
  const reserve = state?.stats.reserveBytes ?? null;
  return [
    `Lido em ${time} (America/Sao_Paulo), de novo a cada minuto`,
    isLeading ? "este processo entrega" : "outro processo entrega",
    reserve === null ? null : `reserva para disco cheio: ${formatNumber(reserve / 1_048_576)} MiB`,
  ]
    .filter((part) => part !== null)
    .join(" · ");
}

function tabIcon(level: Level): string {
  return `data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Ccircle cx='8' cy='8' r='7' fill='%23${TAB_COLOURS[level]}'/%3E%3C/svg%3E`;
}
