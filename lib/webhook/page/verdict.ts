import { UNACKNOWLEDGED_LIMIT } from "../../host/webhook-names.ts";
import { formatCount, formatNumber } from "../../text/pt-br.ts";
import { OUTBOX_KINDS } from "../store/model.ts";
import type { PageFacts, StateFacts } from "./facts.ts";
import { agoText, delayText, KIND_WORDS } from "./wording.ts";

const MINUTE_MS = 60_000;
/** The rate limit alone may delay a message for so long. */
const SLOW_MS = 2 * MINUTE_MS;
/** As the alert rule on queued messages. */
const STUCK_MS = 10 * MINUTE_MS;
/** As the fallback channel, which sends a critical alert by then. */
const CRITICAL_MS = 3 * MINUTE_MS;
const LOG = "`journalctl -u opsctl-webhook`";
const DOCTOR = "`opsctl doctor webhook`";

/** How bad something is. */
export type Level = "ok" | "warn" | "bad";

/** Why the alarm is not in order; `text` may end with a command, in backticks. */
type Reason = { level: Level; text: string };

/** Judges what the page shows: the level of the alarm, that of its worst reason, and the reasons, the worst first. */
export function pageVerdict(facts: PageFacts): { level: Level; reasons: Reason[] } {
  const { pauses, secretRefusedAtMs, nowMs, state, watch } = facts;
  const reasons = [
    state === null &&
      bad(`O banco do webhook não responde: não dá para saber o que está na fila. O log diz por quê: ${LOG}`),
    ...OUTBOX_KINDS.map((kind) => {
      const text = `${KIND_WORDS[kind].refused} (${pauses[kind]}): o envio está pausado. O que fazer: ${DOCTOR}`;
      return pauses[kind] !== null && (kind === "message" ? bad(text) : warn(text));
    }),
    isUnacknowledged(facts) &&
      bad(
        `O gateway aceitou as últimas ${formatNumber(watch.newestUnacknowledged ?? 0)} mensagens, e o WhatsApp não ` +
          "confirmou nenhuma: podem não ter chegado. Reinicie a instância no gateway e confira o celular que envia " +
          "as mensagens; este aviso some quando uma mensagem for confirmada.",
      ),
    // A stranger's request looks the same as one of Grafana, so it is no more than a warning.
    secretRefusedAtMs !== null &&
      warn(
        `A última requisição externa, ${agoText(secretRefusedAtMs, nowMs)}, foi recusada: o segredo não confere. Se ` +
          `veio do Grafana, nenhum alerta dele chega. Para ver a origem e o que fazer: ${DOCTOR}`,
      ),
    ...(state === null ? [] : stateReasons(state)),
  ].filter((reason) => reason !== false);
  const worstFirst = reasons.toSorted((a, b) => Number(b.level === "bad") - Number(a.level === "bad"));
  return { level: worstFirst[0]?.level ?? "ok", reasons: worstFirst };
}

/** Whether WhatsApp acknowledges none of the newest messages: none may arrive although all are accepted. */
export function isUnacknowledged({ watch }: PageFacts): boolean {
  return (watch.newestUnacknowledged ?? 0) >= UNACKNOWLEDGED_LIMIT;
}

function stateReasons({ stats, canAccept, isQuarantined }: StateFacts): (Reason | false)[] {
  const criticalMs = stats.oldestCriticalAgeMs ?? 0;
  const isCriticalLate = criticalMs > CRITICAL_MS;
  const sum = (of: "dead" | "unknown") => OUTBOX_KINDS.reduce((total, kind) => total + stats[kind][of], 0);
  const dead = formatCount(sum("dead"), "não entregue", "não entregues");
  const unknown = formatCount(sum("unknown"), "incerto", "incertos");
  return [
    !canAccept &&
      bad(
        `Nenhum alerta pode ser gravado agora: disco cheio, ou banco de dados fora do ar. O log diz por quê: ${LOG}`,
      ),
    isCriticalLate && bad(`Um alerta crítico espera há ${delayText(criticalMs)}.`),
    ...OUTBOX_KINDS.map((kind) => {
      const ageMs = stats[kind].oldestQueuedAgeMs ?? 0;
      const isStuck = ageMs > STUCK_MS;
      // A critical message says more than a slow one.
      const isSlow = kind === "message" && ageMs > SLOW_MS && !isCriticalLate;
      const text = `${KIND_WORDS[kind].oldest} espera há ${delayText(ageMs)}.`;
      return (isStuck || isSlow) && (isStuck && kind === "message" ? bad(text) : warn(text));
    }),
    sum("dead") + sum("unknown") > 0 &&
      warn(
        `${dead} e ${unknown}: não há novas tentativas. Um incerto pode ter chegado: confira o celular antes. ` +
          "Para ver e decidir: `opsctl webhook dead list`",
      ),
    isQuarantined &&
      warn(`O arquivo de estado não pôde ser lido na inicialização e foi renomeado. O log diz onde: ${LOG}`),
  ];
}

const bad = (text: string): Reason => ({ level: "bad", text });
const warn = (text: string): Reason => ({ level: "warn", text });
