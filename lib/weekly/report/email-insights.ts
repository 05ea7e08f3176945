import { formatCount, formatNumber, formatPercent } from "../../text/pt-br.ts";
import type { Insight, Reached } from "../payload.ts";

/**
 * The e-mail channel's figures: counts by last known state, what the sends have reached, and rates as fractions of the
 * sends that have an event.
 */
export type EmailMetrics = {
  sends: number | null;
  delivered: number | null;
  opened: number | null;
  clicked: number | null;
  bounced: number | null;
  complained: number | null;
  failed: number | null;
  delayed: number | null;
  suppressed: number | null;
  noEvent: number | null;
  deliveryRate: number | null;
  openRate: number | null;
  clickRate: number | null;
  bounceRate: number | null;
  reached: Reached;
};

/** The sends that rates are about: those with an event, out of all. */
type Cohort = { known: number; leftOut: number };

/** From this rate on providers start to distrust a sender, so it is named before anything pleasant. */
const HIGH_BOUNCE_RATE = 0.05;

/** Mailbox providers draw the line at one complaint in a thousand. */
const HIGH_COMPLAINT_RATE = 0.001;

/**
 * Short findings about a week of e-mails, for the owner, most important first.
 *
 * Behaviour: only what the figures prove; without a single event at most one finding, without sends none. The first
 *            finding about a rate says how many sends are left out of it. Speaks of the owner's own sends: what a
 *            colleague has sent is not counted.
 */
export function emailInsights(metrics: EmailMetrics): Insight[] {
  const { sends, noEvent } = metrics;
  if (sends === null || sends <= 0) return [];
  if (noEvent === null) return [withoutEvents(sends)];
  const cohort = { known: sends - noEvent, leftOut: noEvent };
  const isComplaintHigh = (metrics.complained ?? 0) >= HIGH_COMPLAINT_RATE * cohort.known;
  const insights = [
    fewEvents(sends, cohort),
    bounces(metrics, cohort),
    isComplaintHigh ? complaints(metrics) : null,
    opens(metrics, cohort),
    clicks(metrics, cohort),
    deliveries(metrics, cohort),
    isComplaintHigh ? null : complaints(metrics),
  ].filter((insight) => insight !== null);
  return sayingWhoIsLeftOut(insights, cohort);
}

function withoutEvents(sends: number): Insight {
  return {
    code: "email_no_events",
    text: `Você enviou ${formatCount(sends, "e-mail", "e-mails")}; ainda sem eventos registrados`,
    metric: "sends",
    value: sends,
  };
}

/** Why there are no rates: more than half of the sends are not known. */
function fewEvents(sends: number, { known, leftOut }: Cohort): Insight | null {
  if (known >= leftOut) return null;
  const have = known === 1 ? "tem" : "têm";
  return {
    code: "email_few_events",
    text: `Só ${formatNumber(known)} dos seus ${formatNumber(sends)} e-mails ${have} eventos registrados: é pouco para calcular taxas`,
    metric: "noEvent",
    value: leftOut,
  };
}

function bounces({ bounceRate, bounced }: EmailMetrics, cohort: Cohort): Insight | null {
  if (bounceRate === null || bounced === null || bounceRate < HIGH_BOUNCE_RATE) return null;
  const whole = formatCount(cohort.known, "e-mail seu", "e-mails seus") + withEvents(cohort);
  const verb = bounced === 1 ? "voltou" : "voltaram";
  const share = formatPercent(bounced / cohort.known);
  return {
    code: "email_bounces_high",
    text: `${formatNumber(bounced)} de ${whole} ${verb} (${share}); vale revisar os endereços da lista`,
    metric: "bounceRate",
    value: bounceRate,
  };
}

function complaints({ complained }: EmailMetrics): Insight | null {
  if (complained === null || complained === 0) return null;
  const people = formatCount(complained, "pessoa marcou", "pessoas marcaram");
  return {
    code: "email_complaints",
    text: `${people} um e-mail seu como spam`,
    metric: "complained",
    value: complained,
  };
}

function opens({ openRate, reached: { opened } }: EmailMetrics, cohort: Cohort): Insight | null {
  if (openRate === null || opened === null) return null;
  return { code: "email_opens", text: opensText(opened, cohort), metric: "openRate", value: openRate };
}

function opensText(opened: number, cohort: Cohort): string {
  if (cohort.known === 1)
    return opened === 0 ? `${theOnly(cohort)} ainda não foi aberto` : `${theOnly(cohort)} foi aberto`;
  const whole = `seus ${formatNumber(cohort.known)} e-mails${withEvents(cohort)}`;
  if (opened === 0) return `Nenhuma abertura registrada nos ${whole}`;
  if (opened === cohort.known) return `Todos os ${whole} foram abertos`;
  return `${formatPercent(opened / cohort.known)} dos ${whole} foram abertos`;
}

function clicks({ clickRate, reached: { clicked } }: EmailMetrics, cohort: Cohort): Insight | null {
  if (clickRate === null || clicked === null || clicked === 0) return null;
  const share =
    cohort.known === 1
      ? `${theOnly(cohort)} recebeu`
      : `${formatPercent(clicked / cohort.known)} dos e-mails${withEvents(cohort)} receberam`;
  return { code: "email_clicks", text: `${share} ao menos um clique`, metric: "clickRate", value: clickRate };
}

function deliveries({ deliveryRate, reached: { delivered } }: EmailMetrics, cohort: Cohort): Insight | null {
  if (deliveryRate === null || delivered === null || delivered === 0) return null;
  const text =
    delivered === cohort.known
      ? allDelivered(cohort)
      : `${formatPercent(delivered / cohort.known)} dos e-mails${withEvents(cohort)} tiveram entrega confirmada`;
  return { code: "email_deliveries", text, metric: "deliveryRate", value: deliveryRate };
}

function allDelivered(cohort: Cohort): string {
  return cohort.known === 1
    ? `${theOnly(cohort)} foi entregue`
    : `Todos os seus ${formatNumber(cohort.known)} e-mails${withEvents(cohort)} foram entregues`;
}

/** "Seu e-mail", of a cohort of one. */
function theOnly(cohort: Cohort): string {
  return cohort.leftOut === 0 ? "Seu e-mail" : `Seu único e-mail${withEvents(cohort)}`;
}

/** Nothing where every send has an event. */
function withEvents({ leftOut }: Cohort): string {
  return leftOut === 0 ? "" : " com eventos registrados";
}

/** The first finding about a rate names the sends that the rates leave out. */
function sayingWhoIsLeftOut(insights: Insight[], { leftOut }: Cohort): Insight[] {
  const first = insights.find(({ metric }) => metric?.endsWith("Rate"));
  if (leftOut === 0 || first === undefined) return insights;
  const verb = leftOut === 1 ? "fica" : "ficam";
  const note = `${formatNumber(leftOut)} sem evento registrado ${verb} fora da conta`;
  return insights.map((insight) =>
    insight === first ? { ...insight, text: `${insight.text} (${note})` } : insight,
  );
}
