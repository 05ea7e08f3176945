import { type Html, html } from "../../../text/html.ts";
import { formatNumber } from "../../../text/pt-br.ts";
import { OUTBOX_KINDS, type OutboxKind } from "../../state/contract.ts";
import type { PageFacts } from "./read-page.ts";
import { holdOf, isUnacknowledged, type Level } from "./verdict.ts";
import { agoText, delayText, gatewayText, PEER_NAMES } from "./wording.ts";

type Tag = { level: Level; word: string };

/** What waits for each peer, and what it said last; comments are left out where there are none. */
export function renderPeers(facts: PageFacts): Html {
  const shown = OUTBOX_KINDS.filter((kind) => kind !== "comment" || hasComments(facts));
  return html`<div class="peers">${shown.map((kind) => peerPanel(facts, kind))}</div>`;
}

function hasComments({ state, latest }: PageFacts): boolean {
  const { deliveredAtMs, failure } = latest.comment;
  if (deliveredAtMs !== null || failure !== null) return true;
  const stats = state?.stats.comment;
  return stats !== undefined && stats.queued + stats.dead + stats.inDoubt > 0;
}

function peerPanel(facts: PageFacts, kind: OutboxKind): Html {
  const { level, word } = tagOf(facts, kind);
  const rows = [...gatewayRows(facts, kind), ...queueRows(facts, kind), ...outcomeRows(facts, kind)];
  return html`<section class="panel">
<div class="head"><h2>${PEER_NAMES[kind]}</h2><span class="tag ${level}">${word}</span></div>
<dl>${rows.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>
</section>
`;
}

function tagOf(facts: PageFacts, kind: OutboxKind): Tag {
  if (holdOf(facts, kind) !== null) return { level: "bad", word: "recusa" };
  if (kind === "message" && isUnacknowledged(facts)) return { level: "bad", word: "sem confirmação" };
  const { deliveredAtMs, failure } = facts.latest[kind];
  const queued = facts.state?.stats[kind].queued ?? 0;
  if (queued > 0 && failure !== null && failure.atMs > (deliveredAtMs ?? 0))
    return { level: "warn", word: "falhando" };
  if (facts.state === null) return { level: "warn", word: "não se sabe" };
  return { level: "ok", word: queued > 0 ? "entregando" : "em dia" };
}

function gatewayRows({ watch }: PageFacts, kind: OutboxKind): [string, string][] {
  return kind === "message" ? [["Instância do gateway", gatewayText(watch)]] : [];
}

function queueRows({ state }: PageFacts, kind: OutboxKind): [string, string][] {
  if (state === null) return [["Na fila", "não se sabe"]];
  const { queued, oldestQueuedAgeMs, dead, inDoubt } = state.stats[kind];
  const rows: [string, string][] = [["Na fila", formatNumber(queued)]];
  if (oldestQueuedAgeMs !== null) rows.push(["Espera mais longa", delayText(oldestQueuedAgeMs)]);
  if (dead > 0) rows.push(["Desistidos", formatNumber(dead)]);
  if (inDoubt > 0) rows.push(["Em dúvida", formatNumber(inDoubt)]);
  return rows;
}

function outcomeRows(facts: PageFacts, kind: OutboxKind): [string, Html | string][] {
  const { nowMs, isLeading, latest } = facts;
  if (!isLeading) return [["Último erro", "só na página de quem entrega"]];
  const { deliveredAtMs, failure } = latest[kind];
  return [
    ["Última entrega", deliveredAtMs === null ? "nenhuma desde a partida" : agoText(deliveredAtMs, nowMs)],
    [
      "Último erro",
      failure === null
        ? "nenhum desde a partida"
        : html`${agoText(failure.atMs, nowMs)} <code>${failure.code}</code>`,
    ],
  ];
}
