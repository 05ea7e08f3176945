import { formatCount, formatNumber, formatPercent } from "../../text/pt-br.ts";
import type { Insight } from "../payload.ts";

/** The e-mail channel's figures: counts by last known state, and rates as fractions of the sends. */
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
};

/** From this rate on providers start to distrust a sender, so it is named before anything pleasant. */
const HIGH_BOUNCE_RATE = 0.05;

/** Mailbox providers draw the line at one complaint in a thousand. */
const HIGH_COMPLAINT_RATE = 0.001;

/**
 * Short findings about a week of e-mails, for the owner, most important first.
 *
 * Behaviour: only what the figures prove; without a single event at most one finding, without sends none.
 */
export function emailInsights(metrics: EmailMetrics): Insight[] {
  const { sends } = metrics;
  if (sends === null || sends <= 0) return [];
  if (metrics.noEvent === null) return [withoutEvents(sends)];
  const isComplaintHigh = (metrics.complained ?? 0) >= HIGH_COMPLAINT_RATE * sends;
  return [
    bounces(metrics, sends),
    isComplaintHigh ? complaints(metrics) : null,
    opens(metrics, sends),
    clicks(metrics, sends),
    deliveries(metrics, sends),
    isComplaintHigh ? null : complaints(metrics),
  ].filter((insight) => insight !== null);
}

function withoutEvents(sends: number): Insight {
  const sent = formatCount(sends, "e-mail enviado", "e-mails enviados");
  return {
    code: "email_no_events",
    text: `${sent}; ainda sem eventos registrados`,
    metric: "sends",
    value: sends,
  };
}

function bounces({ bounceRate, bounced }: EmailMetrics, sends: number): Insight | null {
  if (bounceRate === null || bounced === null || bounceRate < HIGH_BOUNCE_RATE) return null;
  const cohort = formatCount(sends, "e-mail", "e-mails");
  const verb = bounced === 1 ? "voltou" : "voltaram";
  return {
    code: "email_bounces_high",
    text: `${formatNumber(bounced)} de ${cohort} ${verb} (${formatPercent(bounceRate)}); vale revisar os endereços da lista`,
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

function opens({ openRate }: EmailMetrics, sends: number): Insight | null {
  if (openRate === null) return null;
  return { code: "email_opens", text: opensText(openRate, sends), metric: "openRate", value: openRate };
}

function opensText(openRate: number, sends: number): string {
  if (sends === 1)
    return openRate === 0 ? "O e-mail enviado ainda não foi aberto" : "O e-mail enviado foi aberto";
  const cohort = `${formatNumber(sends)} e-mails enviados`;
  if (openRate === 0) return `Nenhuma abertura registrada nos ${cohort}`;
  return openRate === 1
    ? `Todos os ${cohort} foram abertos`
    : `${formatPercent(openRate)} dos ${cohort} foram abertos`;
}

function clicks({ clickRate }: EmailMetrics, sends: number): Insight | null {
  if (clickRate === null || clickRate === 0) return null;
  const share =
    sends === 1 ? "O e-mail enviado recebeu" : `${formatPercent(clickRate)} dos e-mails receberam`;
  const text = `${share} ao menos um clique`;
  return { code: "email_clicks", text, metric: "clickRate", value: clickRate };
}

function deliveries({ deliveryRate }: EmailMetrics, sends: number): Insight | null {
  if (deliveryRate === null || deliveryRate === 0) return null;
  const text =
    deliveryRate === 1
      ? allDelivered(sends)
      : `${formatPercent(deliveryRate)} dos e-mails tiveram entrega confirmada`;
  return { code: "email_deliveries", text, metric: "deliveryRate", value: deliveryRate };
}

function allDelivered(sends: number): string {
  return sends === 1
    ? "O e-mail enviado foi entregue"
    : `Todos os ${formatNumber(sends)} e-mails foram entregues`;
}
