import { type Html, html } from "../../text/html.ts";
import { formatCount, formatDayMonth, formatNumber } from "../../text/pt-br.ts";
import { REPORT_ZONE } from "../../time/local-date.ts";
import { Temporal } from "../../time/temporal.ts";
import { formatAlertTime } from "../alert/time.ts";
import { OUTBOX_KINDS, type OutboxKind } from "../store/model.ts";
import type { PageFacts } from "./facts.ts";
import { renderAlerts, renderDead } from "./render-alerts.ts";
import { STYLE, STYLE_SOURCE } from "./style.ts";
import { isUnacknowledged, type Level, pageVerdict } from "./verdict.ts";
import { agoText, delayText, KIND_WORDS, LEVEL_WORDS } from "./wording.ts";

const WEEKDAYS = ["seg", "ter", "qua", "qui", "sex", "sáb", "dom"];
/** The page's own style sheet and empty icon, and no frame, form or base of another page. */
const HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": `default-src 'none'; style-src ${STYLE_SOURCE}; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
};

/** The answer with the page; 503 while the state does not answer. */
export function pageAnswer(facts: PageFacts): Response {
  const status = facts.state === null ? 503 : 200;
  return new Response(renderPage(facts).toString(), { status, headers: HEADERS });
}

/**
 * Renders the page that shows the alarm: a whole HTML document.
 *
 * Shape:     no script, nothing from elsewhere; a browser loads it again each minute.
 * Behaviour: texts of alerts are shown on one line and cannot become markup, links or styles.
 */
export function renderPage(facts: PageFacts): Html {
  const { state, nowMs } = facts;
  const { level, reasons } = pageVerdict(facts);
  const lines = reasons.map(({ text }) => {
    const [words = "", command = ""] = text.split("`");
    return html`<p>${words} <code>${command}</code></p>`;
  });
  return html`<!DOCTYPE html>
<html lang="pt-BR" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="format-detection" content="telephone=no,date=no,address=no,email=no">
<meta http-equiv="refresh" content="60">
<title>${LEVEL_WORDS[level]} · alarme</title>
<link rel="icon" href="data:,">
${STYLE}
</head>
<body>
<main>
<header class="panel ${level}">
<h1>${LEVEL_WORDS[level]}</h1>
${lines.length === 0 ? html`<p>Nada parado, recusado ou perdido.</p>` : lines}
</header>
<div class="services">${OUTBOX_KINDS.map((kind) => servicePanel(facts, kind))}</div>
${state === null ? null : html`${renderDead(state.dead, nowMs)}${renderPlot(state.hours, nowMs)}${renderAlerts(state.recent, nowMs)}`}<footer class="note">${footer(facts)}</footer>
</main>
</body>
</html>
`;
}

function servicePanel(facts: PageFacts, kind: OutboxKind): Html {
  const [level, word] = tagOf(facts, kind);
  const rows = serviceRows(facts, kind).filter(([, value]) => value !== null);
  return html`<section class="panel">
<h2>${KIND_WORDS[kind].title}<span class="tag ${level}">${word}</span></h2>
<dl>${rows.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>
</section>
`;
}

function tagOf(facts: PageFacts, kind: OutboxKind): [Level, string] {
  if (facts.pauses[kind] !== null) return ["bad", "recusa"];
  if (kind === "message" && isUnacknowledged(facts)) return ["bad", "sem confirmação"];
  const { deliveredAtMs, failure } = facts.latest[kind];
  const queued = facts.state?.stats[kind].queued ?? 0;
  if (queued > 0 && failure !== null && failure.atMs > (deliveredAtMs ?? 0)) return ["warn", "falhando"];
  if (facts.state === null) return ["warn", "desconhecido"];
  return ["ok", queued > 0 ? "entregando" : "em dia"];
}

/** Names and values; a value of null is not shown. */
function serviceRows({ watch, state, isLeader, latest, nowMs }: PageFacts, kind: OutboxKind) {
  const { queued, oldestQueuedAgeMs = null, dead, unknown } = state?.stats[kind] ?? {};
  const { deliveredAtMs, failure } = latest[kind];
  const open = watch.gatewayOpen === null ? "desconhecida" : watch.gatewayOpen ? "conectada" : "desconectada";
  const delivered = deliveredAtMs === null ? "nenhuma desde a inicialização" : agoText(deliveredAtMs, nowMs);
  const failed = failure && html`${agoText(failure.atMs, nowMs)} <code>${failure.code}</code>`;
  return [
    ["Instância do gateway", kind === "message" ? `${open} há ${delayText(watch.gatewayForMs)}` : null],
    ["Na fila", queued === undefined ? "desconhecido" : formatNumber(queued)],
    ["Espera mais longa", oldestQueuedAgeMs === null ? null : delayText(oldestQueuedAgeMs)],
    ["Não entregues", dead ? formatNumber(dead) : null],
    ["Incertos", unknown ? formatNumber(unknown) : null],
    ["Última entrega", isLeader ? delivered : null],
    ["Último erro", isLeader ? (failed ?? "nenhum desde a inicialização") : "só na página de quem entrega"],
  ] as const;
}

/** Alerts of each hour, the running one last in `counts`, on the last seven days of the calendar. */
function renderPlot(counts: readonly number[], nowMs: number): Html {
  const now = Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO(REPORT_ZONE);
  const days = Array.from({ length: 7 }, (_, at) => {
    const day = now.subtract({ days: 6 - at });
    return `${WEEKDAYS[day.dayOfWeek - 1]} ${formatDayMonth(day)}`;
  });
  const hours = counts.map((alerts, at) => ({ alerts, x: 6 * 24 + now.hour + 1 + at - counts.length }));
  const shown = hours.filter(({ alerts, x }) => alerts > 0 && x >= 0);
  const whenOf = ({ x }: { x: number }) => `${days[Math.floor(x / 24)]}, ${x % 24} h`;
  const total = shown.reduce((sum, { alerts }) => sum + alerts, 0);
  const [most] = shown.toSorted((a, b) => b.alerts - a.alerts);
  const max = most && `máximo ${formatNumber(most.alerts)} (${whenOf(most)})`;
  const summary = max ? `${formatCount(total, "alerta", "alertas")}; ${max}` : "nenhum alerta";
  // A few alerts must not look like a storm, and a single one beside a storm is still seen.
  const scale = 100 / Math.max(most?.alerts ?? 0, 5);
  const bars = shown.map((hour) => {
    const height = Math.max(hour.alerts * scale, 4).toFixed(1);
    const title = `${whenOf(hour)}: ${formatCount(hour.alerts, "alerta", "alertas")}`;
    return html`<path d="M${hour.x} 100h.8v-${height}h-.8z"><title>${title}</title></path>
`;
  });
  return html`<section class="panel plot">
<h2>Alertas por hora, 7 dias <span class="note">${summary}</span></h2>
<svg viewBox="0 0 168 100" preserveAspectRatio="none" role="img" aria-label="${summary}">
${bars}</svg>
<ul>${days.map((day) => html`<li>${day}</li>`)}</ul>
</section>
`;
}

function footer({ nowMs, isLeader, state }: PageFacts): string {
  const time = formatAlertTime(Temporal.Instant.fromEpochMilliseconds(nowMs).toString()) ?? "";
  const bytes = state?.stats.reserveBytes ?? null;
  const disk = bytes === null ? "" : ` · reserva para disco cheio: ${formatNumber(bytes / 1_048_576)} MiB`;
  const leader = isLeader ? "este processo entrega" : "outro processo entrega";
  return `Lido em ${time} (${REPORT_ZONE}), de novo a cada minuto · ${leader}${disk}`;
}
