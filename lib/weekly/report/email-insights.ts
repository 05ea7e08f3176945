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

/** Of fewer e-mails a percentage says less than their number. */
const MIN_FOR_SHARE = 20;

/** What has become of one e-mail, and of several. */
type Verbs = readonly [one: string, many: string];

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
    text: `Você enviou ${formatCount(sends, "e-mail", "e-mails")}; ainda não há informação de entrega`,
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
    text: `Só ${formatNumber(known)} dos seus ${formatNumber(sends)} e-mails ${have} informação de entrega: é pouco para calcular taxas`,
    metric: "noEvent",
    value: leftOut,
  };
}

function bounces({ bounceRate, bounced }: EmailMetrics, cohort: Cohort): Insight | null {
  if (bounceRate === null || bounced === null || bounceRate < HIGH_BOUNCE_RATE) return null;
  const share = cohort.known < MIN_FOR_SHARE ? "" : ` (${formatPercent(bounced / cohort.known)})`;
  const text = `${counted(bounced, cohort, ["voltou", "voltaram"])}${share}; vale revisar os endereços da lista`;
  return { code: "email_bounces_high", text, metric: "bounceRate", value: bounceRate };
}

/** Of e-mails, and not of people: one person may have marked two of them. */
function complaints({ complained }: EmailMetrics): Insight | null {
  if (complained === null || complained === 0) return null;
  const marked = formatCount(complained, "e-mail seu foi marcado", "e-mails seus foram marcados");
  return {
    code: "email_complaints",
    text: `${marked} como spam`,
    metric: "complained",
    value: complained,
  };
}

function opens({ openRate, reached: { opened } }: EmailMetrics, cohort: Cohort): Insight | null {
  if (openRate === null || opened === null) return null;
  const text = opened === 0 ? noOpensText(cohort) : shared(opened, cohort, ["foi aberto", "foram abertos"]);
  return { code: "email_opens", text, metric: "openRate", value: openRate };
}

/** An open that a mail client hides is not registered, so that none is no proof of none. */
function noOpensText(cohort: Cohort): string {
  return `Nenhuma abertura registrada ${cohort.known === 1 ? `no ${theOnly("seu", cohort)}` : `nos ${all(cohort)}`}`;
}

function clicks({ clickRate, reached: { clicked } }: EmailMetrics, cohort: Cohort): Insight | null {
  if (clickRate === null || clicked === null || clicked === 0) return null;
  const text = shared(clicked, cohort, ["recebeu ao menos um clique", "receberam ao menos um clique"]);
  return { code: "email_clicks", text, metric: "clickRate", value: clickRate };
}

function deliveries({ deliveryRate, reached: { delivered } }: EmailMetrics, cohort: Cohort): Insight | null {
  if (deliveryRate === null || delivered === null || delivered === 0) return null;
  const text = shared(delivered, cohort, ["foi entregue", "foram entregues"]);
  return { code: "email_deliveries", text, metric: "deliveryRate", value: deliveryRate };
}

/** "42,2% dos seus 1.000 e-mails foram abertos"; of a handful by number. */
function shared(part: number, cohort: Cohort, verbs: Verbs): string {
  if (cohort.known < MIN_FOR_SHARE || part === cohort.known) return counted(part, cohort, verbs);
  const share = formatPercent(part / cohort.known);
  // "menos de 0,1%" begins a sentence here.
  return `${share.charAt(0).toUpperCase()}${share.slice(1)} dos ${all(cohort)} ${verbs[1]}`;
}

/** "Seu e-mail foi aberto", "1 dos seus 3 e-mails foi aberto", "Todos os seus 3 e-mails foram abertos". */
function counted(part: number, cohort: Cohort, [one, many]: Verbs): string {
  if (cohort.known === 1) return `${theOnly("Seu", cohort)} ${one}`;
  if (part === cohort.known) return `${part === 2 ? "Os" : "Todos os"} ${all(cohort)} ${many}`;
  return `${formatNumber(part)} dos ${all(cohort)} ${part === 1 ? one : many}`;
}

/** "Seu e-mail", of a cohort of one. */
function theOnly(your: "Seu" | "seu", cohort: Cohort): string {
  return cohort.leftOut === 0 ? `${your} e-mail` : `${your} único e-mail${withInformation(cohort)}`;
}

function all(cohort: Cohort): string {
  return `seus ${formatNumber(cohort.known)} e-mails${withInformation(cohort)}`;
}

/** Nothing where something is known of every send. */
function withInformation({ leftOut }: Cohort): string {
  return leftOut === 0 ? "" : " com informação de entrega";
}

/** The first finding about a rate names the sends that the rates leave out. */
function sayingWhoIsLeftOut(insights: Insight[], { leftOut }: Cohort): Insight[] {
  const first = insights.find(({ metric }) => metric?.endsWith("Rate"));
  if (leftOut === 0 || first === undefined) return insights;
  const verb = leftOut === 1 ? "fica" : "ficam";
  const note = `${formatNumber(leftOut)} sem essa informação ${verb} fora da conta`;
  return insights.map((insight) =>
    insight === first ? { ...insight, text: `${insight.text} (${note})` } : insight,
  );
}
