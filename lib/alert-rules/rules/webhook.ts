import { WEBHOOK_KIND, webhookMetric } from "../../host/webhook-metric-names.ts";
import { type AlertRule, newestValue, ON_METRICS } from "./rule.ts";

const BASE = { ...ON_METRICS, watchesWebhook: true } as const;
const NOW = newestValue();

const LEADING = webhookMetric("leading");
/** A comment on an issue says only what a message has said already. */
const ALERTS = `kind!="${WEBHOOK_KIND.comment}"`;
const OLDEST = `${webhookMetric("oldest_undelivered_age_seconds")}{${ALERTS}}`;
const SENT = webhookMetric("sent_total");
const GATEWAY_OPEN = webhookMetric("gateway_open");
/** Of five minutes: a restart of the service, which has to ask the gateway first, does not reset the rule's time. */
const UNACKNOWLEDGED = `last_over_time(${webhookMetric("newest_unacknowledged_messages")}[5m])`;
const UNDELIVERED = `{__name__=~"${webhookMetric("dead")}|${webhookMetric("in_doubt")}",${ALERTS}}`;

/**
 * The rules on the webhook itself.
 *
 * Behaviour: of several hosts with one state all show the same rows, but only the one that leads delivers, so a host's
 *            sends and its gateway count while it leads, and no row counts twice. The rule on the webhook's absence
 *            fires when there is no series (`or vector(0)`), the others are silent then.
 */
export const WEBHOOK_RULES: readonly AlertRule[] = [
  {
    ...BASE,
    uid: "opsctl-webhook-stopped",
    title: "Webhook de alertas parado",
    // Five minutes bear a restart of the service or of the agent.
    query: `max(max_over_time(${LEADING}[5m])) or vector(0)`,
    condition: { operator: "<", threshold: 1 },
    severity: "critical",
    summary: "O webhook que envia os alertas não dá sinal há 5 minutos",
    description:
      "Os alertas desta VPS podem não chegar ao WhatsApp: o serviço parou, não responde, não lidera, ou o agente não o lê. " +
      "Veja primeiro: `systemctl status opsctl-webhook`, `journalctl -u opsctl-webhook -n 50` e " +
      "`curl http://127.0.0.1:9301/healthz`. Se o serviço responder, veja o agente: `systemctl status alloy`.",
  },
  {
    ...BASE,
    uid: "opsctl-webhook-stuck",
    title: "Webhook com alertas parados",
    // The age of the oldest waiting row where nothing of its kind was sent, and 0 where something was.
    query:
      `max(max by (instance, kind) (${OLDEST}) ` +
      `* on (instance, kind) (sum by (instance, kind) (increase(${SENT}[10m])) == bool 0) ` +
      `* on (instance) group_left () max by (instance) (${LEADING}))`,
    condition: { operator: ">", threshold: 600 },
    severity: "critical",
    summary: "Há alertas esperando, e o webhook não envia nada há 10 minutos",
    description:
      `O mais antigo espera há ${NOW} segundos. Nada se perde: o webhook guarda e tenta de novo, mas ninguém é avisado. ` +
      "Veja primeiro `sudo opsctl doctor webhook`, que diz se é o gateway ou o rastreador de issues, e o que fazer; " +
      "depois `curl http://127.0.0.1:9301/healthz`.",
  },
  {
    ...BASE,
    uid: "opsctl-webhook-given-up",
    title: "Alertas não entregues",
    query: `max(sum by (instance) (${UNDELIVERED}))`,
    condition: { operator: ">", threshold: 0 },
    severity: "high",
    summary: "O webhook não entregou alertas ou issues, ou não sabe se chegaram",
    description:
      `Mensagens e issues nessa situação: ${NOW}. Elas ficam guardadas e não são mais tentadas automaticamente. ` +
      "Veja primeiro quais: `opsctl webhook dead list`. Corrija a causa e envie de novo com `opsctl webhook dead retry`, " +
      "ou descarte com `opsctl webhook dead drop`; o alerta termina quando não restar nenhuma.",
  },
  {
    ...BASE,
    uid: "opsctl-gateway-disconnected",
    title: "Gateway desconectado",
    query: `min(min by (instance) (${GATEWAY_OPEN}) and on (instance) max by (instance) (${LEADING}) == 1)`,
    condition: { operator: "<", threshold: 1 },
    forSeconds: 300,
    severity: "critical",
    summary: "O gateway do WhatsApp perdeu a conexão com o telefone há 5 minutos",
    description:
      "Nenhum alerta sai pelo WhatsApp até o telefone ser conectado de novo; os alertas esperam no webhook. " +
      "Veja primeiro se o telefone está ligado e com internet; depois conecte a instância de novo no gateway (QR code). " +
      "`sudo opsctl doctor webhook` confirma. O envio continua sozinho.",
  },
  {
    ...BASE,
    uid: "opsctl-messages-unacknowledged",
    title: "WhatsApp sem confirmação",
    query: `max(max by (instance) (${UNACKNOWLEDGED}) and on (instance) max by (instance) (max_over_time(${LEADING}[5m])) == 1)`,
    condition: { operator: ">", threshold: 2 },
    forSeconds: 600,
    severity: "critical",
    summary: "O gateway aceita os alertas, mas o WhatsApp não confirma nenhum há 10 minutos",
    description:
      `As últimas mensagens sem confirmação, em seguida: ${NOW}. Podem não ter chegado a ninguém, embora o gateway se diga ` +
      "conectado. Veja primeiro se o WhatsApp do telefone que envia está bloqueado ou com restrição; depois reinicie a " +
      "instância no gateway. `opsctl webhook test --without-issue` envia uma mensagem de teste; o alerta termina com a " +
      "primeira mensagem confirmada.",
  },
];
