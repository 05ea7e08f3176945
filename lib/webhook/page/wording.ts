import { formatCount, formatNumber } from "../../text/pt-br.ts";
import type { OutboxKind } from "../store/types.ts";
import { durationText } from "../texts/duration.ts";

/** A sentence, and the command that helps; null where none does. */
export type Advice = { text: string; command: string | null };

/** The level of the alarm in words. */
export const LEVEL_WORDS = { ok: "Tudo em ordem", warn: "Atenção", bad: "Com problema" } as const;

/** The words for each kind. */
export const KIND_WORDS = {
  message: { title: "WhatsApp", row: "mensagem", rows: "as mensagens", oldest: "A mensagem mais antiga" },
  issue: { title: "Issues", row: "issue", rows: "as issues", oldest: "A issue mais antiga" },
  comment: {
    title: "Comentários",
    row: "comentário",
    rows: "os comentários",
    oldest: "O comentário mais antigo",
  },
} as const satisfies Record<OutboxKind, object>;

const DOCTOR = "opsctl doctor webhook";
const JOURNAL = "journalctl -u opsctl-webhook";

/** Why the alarm is not in order, and what helps. */
export const ADVICE = {
  stopping: advice("O serviço está encerrando."),
  stateUnavailable: advice(
    "O banco do webhook não responde: não dá para saber o que está na fila. O log diz por quê:",
    JOURNAL,
  ),
  notAccepting: advice(
    "Nenhum alerta pode ser gravado agora: disco cheio, ou banco de dados fora do ar. O log diz por quê:",
    JOURNAL,
  ),
  quarantined: advice(
    "O arquivo de estado não pôde ser lido na inicialização e foi renomeado. O log diz onde está:",
    JOURNAL,
  ),
  paused(kind: OutboxKind, code: string): Advice {
    const service = kind === "message" ? "O gateway" : "O Linear";
    return advice(
      `${service} recusa ${KIND_WORDS[kind].rows} (${code}): o envio está pausado. O que fazer:`,
      DOCTOR,
    );
  },
  criticalWaits: (ageMs: number) => advice(`Um alerta crítico espera há ${delayText(ageMs)}.`),
  waits: (kind: OutboxKind, ageMs: number) =>
    advice(`${KIND_WORDS[kind].oldest} espera há ${delayText(ageMs)}.`),
  unacknowledged: (count: number) =>
    advice(
      `O gateway aceitou as últimas ${formatNumber(count)} mensagens, e o WhatsApp não confirmou nenhuma: ` +
        "podem não ter chegado. Reinicie a instância no gateway e confira o celular que envia as mensagens; " +
        "este aviso some quando uma mensagem for confirmada.",
    ),
  secretRefused: (atMs: number, nowMs: number) =>
    advice(
      `A última requisição externa, ${agoText(atMs, nowMs)}, foi recusada: o segredo não confere. Se veio do ` +
        "Grafana, nenhum alerta dele chega. Para ver a origem e o que fazer:",
      DOCTOR,
    ),
  undelivered: (dead: number, unknown: number) =>
    advice(
      `${formatCount(dead, "não entregue", "não entregues")} e ${formatCount(unknown, "incerto", "incertos")}: ` +
        "não há novas tentativas. Um incerto pode ter chegado: confira o celular antes. Para ver e decidir:",
      "opsctl webhook dead list",
    ),
} as const;

/** How long something took or takes, from a second on: `2 s`, `4 min`. */
export function delayText(ms: number): string {
  if (ms < 1_000) return "menos de 1 s";
  return ms < 60_000 ? `${Math.floor(ms / 1_000)} s` : durationText(ms);
}

/** How long ago something was; `agora` for what a clock that was set back puts ahead. */
export function agoText(atMs: number, nowMs: number): string {
  return nowMs - atMs < 1_000 ? "agora" : `há ${delayText(nowMs - atMs)}`;
}

function advice(text: string, command: string | null = null): Advice {
  return { text, command };
}
