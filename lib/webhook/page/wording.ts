import { durationText } from "../texts/duration.ts";

/** The level of the alarm in words. */
export const LEVEL_WORDS = { ok: "Tudo em ordem", warn: "Atenção", bad: "Com problema" } as const;

/** The words for each kind. */
export const KIND_WORDS = {
  message: {
    ...{ title: "WhatsApp", row: "mensagem", oldest: "A mensagem mais antiga" },
    refused: "O gateway recusa as mensagens",
  },
  issue: {
    ...{ title: "Issues", row: "issue", oldest: "A issue mais antiga" },
    refused: "O Linear recusa as issues",
  },
  comment: {
    ...{ title: "Comentários", row: "comentário", oldest: "O comentário mais antigo" },
    refused: "O Linear recusa os comentários",
  },
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
