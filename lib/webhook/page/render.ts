import { type Html, html } from "../../text/html.ts";
import { formatCount, formatNumber } from "../../text/pt-br.ts";
import { REPORT_ZONE } from "../../time/local-date.ts";
import { Temporal } from "../../time/temporal.ts";
import { formatAlertTime } from "../alert/time.ts";
import { OUTBOX_KINDS, type OutboxKind } from "../store/types.ts";
import type { PageFacts } from "./facts.ts";
import { renderAlerts, renderDead } from "./render-alerts.ts";
import { STYLE, STYLE_SOURCE } from "./style.ts";
import { isUnacknowledged, type Level, pageVerdict, pausedBy } from "./verdict.ts";
import { agoText, delayText, KIND_WORDS, LEVEL_WORDS } from "./wording.ts";

const HOUR_MS = 3_600_000;
const WEEKDAYS = ["seg", "ter", "qua", "qui", "sex", "sáb", "dom"];
/** A few alerts must not look like a storm. */
const SMALLEST_SCALE = 5;
/** The page's own style sheet and empty icon, and no frame, form or base of another page. */
const HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": `default-src 'none'; style-src ${STYLE_SOURCE}; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
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
  const lines = reasons.map(({ text, command }) => html`<p>${text} <code>${command ?? ""}</code></p>`);
  return html`<!DOCTYPE html>
<html lang="pt-BR" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
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
  const rows = serviceRows(facts, kind).map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`);
  return html`<section class="panel">
<h2>${KIND_WORDS[kind].title}<span class="tag ${level}">${word}</span></h2>
<dl>${rows}</dl>
</section>
`;
}

function tagOf(facts: PageFacts, kind: OutboxKind): [Level, string] {
  if (pausedBy(facts, kind) !== null) return ["bad", "recusa"];
  if (kind === "message" && isUnacknowledged(facts)) return ["bad", "sem confirmação"];
  const { deliveredAtMs, failure } = facts.latest[kind];
  const queued = facts.state?.stats[kind].queued ?? 0;
  if (queued > 0 && failure !== null && failure.atMs > (deliveredAtMs ?? 0)) return ["warn", "falhando"];
  if (facts.state === null) return ["warn", "desconhecido"];
  return ["ok", queued > 0 ? "entregando" : "em dia"];
}

function serviceRows(
  { watch, state, isLeader, latest, nowMs }: PageFacts,
  kind: OutboxKind,
): [string, Html | string][] {
  const rows: [string, Html | string][] = [];
  const open = watch.gatewayOpen === null ? "desconhecida" : watch.gatewayOpen ? "conectada" : "desconectada";
  if (kind === "message") rows.push(["Instância do gateway", `${open} há ${delayText(watch.gatewayForMs)}`]);
  if (state === null) rows.push(["Na fila", "desconhecido"]);
  else {
    const { queued, oldestQueuedAgeMs, dead, unknown } = state.stats[kind];
    rows.push(["Na fila", formatNumber(queued)]);
    if (oldestQueuedAgeMs !== null) rows.push(["Espera mais longa", delayText(oldestQueuedAgeMs)]);
    if (dead > 0) rows.push(["Não entregues", formatNumber(dead)]);
    if (unknown > 0) rows.push(["Incertos", formatNumber(unknown)]);
  }
  if (!isLeader) return [...rows, ["Último erro", "só na página de quem entrega"]];
  const { deliveredAtMs, failure } = latest[kind];
  const delivered = deliveredAtMs === null ? "nenhuma desde a inicialização" : agoText(deliveredAtMs, nowMs);
  const failed = failure && html`${agoText(failure.atMs, nowMs)} <code>${failure.code}</code>`;
  return [...rows, ["Última entrega", delivered], ["Último erro", failed ?? "nenhum desde a inicialização"]];
}

/** Alerts of each hour, the running one last in `counts`, on the last seven days of the calendar. */
function renderPlot(counts: readonly number[], nowMs: number): Html {
  const localAt = (ms: number) => Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(REPORT_ZONE);
  const first = localAt(nowMs).toPlainDate().subtract({ days: 6 });
  const days = Array.from({ length: 7 }, (_, at) => {
    const { dayOfWeek, day, month } = first.add({ days: at });
    return `${WEEKDAYS[dayOfWeek - 1]} ${String(day).padStart(2, "0")}/${String(month).padStart(2, "0")}`;
  });
  const hours = counts.map((alerts, at) => {
    const local = localAt(nowMs - (counts.length - 1 - at) * HOUR_MS);
    const day = first.until(local.toPlainDate()).days;
    return { alerts, x: day * 24 + local.hour, when: `${days[day]}, ${local.hour} h` };
  });
  const shown = hours.filter(({ alerts, x }) => alerts > 0 && x >= 0).toSorted((a, b) => b.alerts - a.alerts);
  const scale = 100 / Math.max(shown[0]?.alerts ?? 0, SMALLEST_SCALE);
  const total = formatCount(
    shown.reduce((sum, { alerts }) => sum + alerts, 0),
    "alerta",
    "alertas",
  );
  const summary = shown[0]
    ? `${total}; máximo ${formatNumber(shown[0].alerts)} (${shown[0].when})`
    : "nenhum alerta";
  const bars = shown.map(({ alerts, x, when }) => {
    // A single alert beside a storm is still seen.
    const height = Math.max(alerts * scale, 4).toFixed(1);
    const title = `${when}: ${formatCount(alerts, "alerta", "alertas")}`;
    return html`<path d="M${x} 100h.8v-${height}h-.8z"><title>${title}</title></path>
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
  const reserve = state?.stats.reserveBytes ?? null;
  const disk =
    reserve === null ? "" : ` · reserva para disco cheio: ${formatNumber(reserve / 1_048_576)} MiB`;
  const leader = isLeader ? "este processo entrega" : "outro processo entrega";
  return `Lido em ${time} (${REPORT_ZONE}), de novo a cada minuto · ${leader}${disk}`;
}
