/** What the page says, in the words of the people who read it. */
import { formatCount, formatNumber } from "../../../text/pt-br.ts";
import type { OutboxKind } from "../../state/contract.ts";
import { durationText } from "../../texts/duration.ts";
import type { WatchView } from "../../watch/watch.ts";
import type { Level, Reason } from "./verdict.ts";

const MINUTE_MS = 60_000;

/** A sentence, and the command that helps; null where none does. */
export type Advice = { text: string; command: string | null };

/** The state of the alarm in a word. */
export const LEVEL_WORDS: Readonly<Record<Level, string>> = {
  ok: "Tudo em ordem",
  warn: "Atenção",
  bad: "Com problema",
};

/** Where each kind goes. */
export const PEER_NAMES: Readonly<Record<OutboxKind, string>> = {
  message: "WhatsApp",
  issue: "Issues",
  comment: "Comentários",
};

/** What a row of each kind is called. */
export const ROW_NAMES: Readonly<Record<OutboxKind, string>> = {
  message: "mensagem",
  issue: "issue",
  comment: "comentário",
};

const HELD: Readonly<Record<OutboxKind, string>> = {
  message: "O gateway recusa as mensagens",
  issue: "O tracker recusa as issues",
  comment: "O tracker recusa os comentários",
};

const WAITS: Readonly<Record<OutboxKind, string>> = {
  message: "A mensagem mais antiga espera",
  issue: "A issue mais antiga espera",
  comment: "O comentário mais antigo espera",
};

/** How long something took or takes, from a second on: `2 s`, `4 min`. */
export function delayText(ms: number): string {
  if (ms < 1_000) return "menos de 1 s";
  return ms < MINUTE_MS ? `${Math.floor(ms / 1_000)} s` : durationText(ms);
}

/** How long ago something was; `agora` for what a clock that was set back puts ahead. */
export function agoText(atMs: number, nowMs: number): string {
  return nowMs - atMs < 1_000 ? "agora" : `há ${delayText(nowMs - atMs)}`;
}

/** Whether the gateway's instance is connected, and for how long. */
export function gatewayText({ gatewayOpen, gatewayForMs }: WatchView): string {
  const word = gatewayOpen === null ? "não se sabe" : gatewayOpen ? "conectada" : "desconectada";
  return `${word} há ${delayText(gatewayForMs)}`;
}

/** Why the alarm is not in order, and what helps. */
export function reasonAdvice(reason: Reason, nowMs: number): Advice {
  switch (reason.status) {
    case "held": {
      const since = reason.sinceMs === null ? "" : ` ${agoText(reason.sinceMs, nowMs)}`;
      const text = `${HELD[reason.kind]}${since} (${reason.hold}): tudo espera. O que fazer:`;
      return { text, command: "opsctl doctor webhook" };
    }
    case "critical_waits":
      return advice(`Um alerta crítico espera há ${delayText(reason.ageMs)}.`);
    case "waits":
      return advice(`${WAITS[reason.kind]} há ${delayText(reason.ageMs)}.`);
    case "unacknowledged":
      return unacknowledgedAdvice(reason.count);
    case "secret_refused": {
      const post = `O último post de fora, ${agoText(reason.atMs, nowMs)}, foi recusado: tem outro segredo`;
      const text = `${post}. Se foi a plataforma, nenhum alerta dela chega. Quem foi, e o que fazer:`;
      return { text, command: "opsctl doctor webhook" };
    }
    case "lost":
      return lostAdvice(reason);
    default:
      return PLAIN_REASONS[reason.status];
  }
}

function unacknowledgedAdvice(count: number): Advice {
  const last = `O gateway aceitou as últimas ${formatNumber(count)} mensagens, e o WhatsApp não confirmou nenhuma`;
  return advice(
    `${last}: podem não ter chegado. Reinicie a instância no gateway e olhe o telefone que envia; ` +
      "termina com a primeira mensagem confirmada.",
  );
}

/** What is in doubt may be on the phone already: to try all of it again would send copies. */
function lostAdvice(counts: { dead: number; inDoubt: number }): Advice {
  const text = `${lostText(counts)}: não são mais tentados.`;
  return counts.inDoubt > 0
    ? {
        text: `${text} O que está em dúvida pode já ter chegado: olhe antes o telefone. Quais são:`,
        command: "opsctl webhook dead list",
      }
    : { text: `${text} Tentar de novo:`, command: "opsctl webhook dead retry --all" };
}

/** How many rows are tried no more: `2 desistidos e 1 em dúvida`. */
function lostText({ dead, inDoubt }: { dead: number; inDoubt: number }): string {
  const parts = [
    dead > 0 ? formatCount(dead, "desistido", "desistidos") : null,
    inDoubt > 0 ? `${formatNumber(inDoubt)} em dúvida` : null,
  ];
  return parts.filter((part) => part !== null).join(" e ");
}

const JOURNAL = "journalctl -u opsctl-webhook";

const PLAIN_REASONS: Readonly<Record<"state_away" | "not_accepting" | "moved_aside" | "stopping", Advice>> = {
  state_away: {
    text: "O estado não responde: não se sabe o que espera. O log diz por quê:",
    command: JOURNAL,
  },
  not_accepting: {
    text: "Nenhum alerta pode ser gravado agora: disco cheio, ou banco de dados fora. O log diz por quê:",
    command: JOURNAL,
  },
  moved_aside: {
    text: "O arquivo de estado não pôde ser lido na partida e foi guardado ao lado. O log diz onde:",
    command: JOURNAL,
  },
  stopping: { text: "O serviço está encerrando.", command: null },
};

function advice(text: string): Advice {
  return { text, command: null };
}
