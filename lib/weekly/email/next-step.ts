import type { ChannelName, Payload } from "../payload.ts";
import { CHANNEL_LABELS } from "../texts/channel-label.ts";

const SHORT: Readonly<Record<string, (channel: string) => string>> = {
  connect: (channel) => `conectar o ${channel}`,
  check: (channel) => `conferir a conexão com o ${channel}`,
  gather: (channel) => `publicar no ${channel}`,
};

const SHORT_BY_CODE: Readonly<Record<string, string>> = {
  send_email: "enviar um e-mail aos seus contatos",
  check_email_events: "conferir se os seus e-mails registram entregas, aberturas e cliques",
};

/**
 * The first step in a few words, for the head; the list at the end has it in full.
 *
 * Shape: null where the owner has nothing to do but read, and for a step that is not known here.
 */
export function nextStepText([first]: Payload["activationActions"]): string | null {
  if (first === undefined) return null;
  const text = Object.hasOwn(SHORT_BY_CODE, first.code) ? SHORT_BY_CODE[first.code]! : byNetwork(first.code);
  return text === null ? null : `Próximo passo: ${text}`;
}

function byNetwork(code: string): string | null {
  const [, verb = "", network = ""] = /^([a-z]+)_([a-z]+)$/.exec(code) ?? [];
  if (!Object.hasOwn(SHORT, verb) || !Object.hasOwn(CHANNEL_LABELS, network)) return null;
  return SHORT[verb]!(CHANNEL_LABELS[network as ChannelName]);
}
