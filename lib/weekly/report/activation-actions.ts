import { isOurFailure } from "../our-failure.ts";
import type { ActivationAction, Channel, ChannelName, Payload } from "../payload.ts";
import { CHANNEL_LABELS } from "../texts/channel-label.ts";

const INTEGRATIONS_PATH = "/app/settings/integrations";
const EMAIL_PATH = "/app/email";
const REPORT_PATH = "/app/performance";

/** Networks an owner can connect; `blog` and `tiktok` have no integration yet. */
const NETWORKS = ["instagram", "linkedin"] as const;

/** Reasons that do not come from a broken connection. */
const NOT_ABOUT_CONNECTION = new Set<string | null>([
  null,
  "not_connected",
  "not_integrated",
  "analysis_unavailable",
]);

/**
 * Steps that would fill what this week's report lacks, most useful first.
 *
 * Behaviour: at least one; the same channels always give the same steps. Only what an owner can do in the application:
 *            connect a network, send an e-mail, check a connection without an analysis, open the report; nothing about
 *            a failure of ours.
 */
export function activationActions(channels: Payload["channels"]): ActivationAction[] {
  const actions = [
    ...NETWORKS.map((network) => connect(network, channels[network])),
    sendEmail(channels.email),
    ...NETWORKS.map((network) => checkConnection(network, channels[network])),
    checkEmailEvents(channels.email),
    ...NETWORKS.map((network) => gatherData(network, channels[network])),
  ].filter((action) => action !== null);
  return actions.length > 0 ? actions : [openReport(channels)];
}

function connect(network: (typeof NETWORKS)[number], { reason }: Channel): ActivationAction | null {
  if (reason !== "not_connected") return null;
  return {
    code: `connect_${network}`,
    channel: network,
    label: `Conecte sua conta do ${CHANNEL_LABELS[network]} para incluí-la no próximo relatório`,
    path: INTEGRATIONS_PATH,
  };
}

function sendEmail({ status }: Channel): ActivationAction | null {
  if (status === "available") return null;
  return {
    code: "send_email",
    channel: "email",
    label: "Envie um e-mail aos seus contatos para medir entregas, aberturas e cliques",
    path: EMAIL_PATH,
  };
}

function checkConnection(
  network: (typeof NETWORKS)[number],
  { status, reason }: Channel,
): ActivationAction | null {
  if (status === "available" || NOT_ABOUT_CONNECTION.has(reason) || isOurFailure(reason)) return null;
  return {
    code: `check_${network}`,
    channel: network,
    label: `Confira se a conexão com o ${CHANNEL_LABELS[network]} continua ativa`,
    path: INTEGRATIONS_PATH,
  };
}

function checkEmailEvents({ status, metrics }: Channel): ActivationAction | null {
  if (status !== "available" || metrics === null || metrics.deliveryRate !== null) return null;
  return {
    code: "check_email_events",
    channel: "email",
    label: "Confira se os seus envios de e-mail registram entregas, aberturas e cliques",
    path: EMAIL_PATH,
  };
}

function gatherData(network: (typeof NETWORKS)[number], { reason }: Channel): ActivationAction | null {
  if (reason !== "analysis_unavailable") return null;
  return {
    code: `gather_${network}`,
    channel: network,
    label: `Publique no ${CHANNEL_LABELS[network]} para que a próxima análise tenha o que medir`,
    path: REPORT_PATH,
  };
}

/** The step when the owner can add nothing: open the report. */
function openReport(channels: Payload["channels"]): ActivationAction {
  const names = Object.keys(CHANNEL_LABELS) as ChannelName[];
  return {
    code: "open_report",
    channel: names.find((name) => channels[name].status === "available") ?? "email",
    label: "Abra o relatório completo para acompanhar a evolução de cada canal",
    path: REPORT_PATH,
  };
}
