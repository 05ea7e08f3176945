import type { Fix } from "../platform/errors.ts";
import { ALERT_GATEWAY, GATEWAY_KEY_REFUSED, gatewayAdvice } from "../providers/evolution/advice.ts";
import { LONG_WAIT_MS, type ServiceHealth } from "../webhook/http/service-health.ts";
import { type KindStats, OUTBOX_KINDS, type OutboxKind } from "../webhook/state/contract.ts";
import { shortTime } from "./age-text.ts";
import { type CheckResult, command, fail, type Health, needsDoctor, note, pass, warn } from "./result.ts";

/** The command that shows why the service does not work. */
export const JOURNAL = command("journalctl -u opsctl-webhook.service -n 50");

const LIST_DEAD = "opsctl webhook dead list";
const REFUSED_SENDER = command(
  'journalctl -u opsctl-webhook.service -g "A request was refused" -n 5',
  "If Grafana sent it, write it the secret again (opsctl alert-rules contact-point apply --rotate --url " +
    "https://<alert host>/webhook). Who sent it:",
);

/** The queues of the service, by kind. */
export type Queues = Record<OutboxKind, KindStats>;

/** What corrects the secrets of the services that alerts go to, where somebody has looked for them. */
export type SecretFixes = Record<"MESSAGING_API_KEY" | "ISSUE_TRACKER_TOKEN", Fix | null>;

const NO_FIXES: SecretFixes = { MESSAGING_API_KEY: null, ISSUE_TRACKER_TOKEN: null };

/** The health of the webhook by what its running service reports. */
export function webhookHealth(health: ServiceHealth): Health {
  const [ready, ...more] = serviceResults(health, NO_FIXES);
  const queues = health.outbox === null ? [UNCOUNTED] : queueResults(health.outbox);
  return {
    lines: [[ready!, ...gatewayResults(health), ...queues], ...more.map((result) => [result])],
    facts: factsOf(health),
  };
}

const UNCOUNTED = fail("STATE_UNREADABLE", "the queue cannot be counted", JOURNAL);

/** Whether the service accepts alerts, then what it has paused, and whether it refused the last post. */
export function serviceResults(health: ServiceHealth, fixes: SecretFixes): CheckResult[] {
  const { isReady, isLeading, holds, secretRefusedAt } = health;
  const up = pass(isLeading ? "up" : "up, another host delivers");
  return [
    isReady ? up : fail("WEBHOOK_NOT_READY", "it runs and cannot accept alerts", JOURNAL),
    ...OUTBOX_KINDS.flatMap((kind) => pausedResults(kind, holds[kind], fixes)),
    ...refusalResults(secretRefusedAt),
  ];
}

function pausedResults(kind: OutboxKind, code: string | null, fixes: SecretFixes): CheckResult[] {
  if (code === null) return [];
  const service = kind === "message" ? "the gateway" : "the issue tracker";
  const fix = kind === "message" ? gatewayFix(code, fixes) : fixes.ISSUE_TRACKER_TOKEN;
  return [needsDoctor(fail(code, `${kind}s are paused until ${service} accepts them again`, fix))];
}

/** A new key needs a reload; the service itself notices a repaired gateway. */
function gatewayFix(code: string, { MESSAGING_API_KEY: correctKey }: SecretFixes): Fix | null {
  const advice = gatewayAdvice({ code }, ALERT_GATEWAY);
  if (advice === null || code === GATEWAY_KEY_REFUSED) return correctKey;
  return { text: `${advice.fix}; the service resumes within a minute`, command: null };
}

/** A stranger's post looks the same as one of a Grafana that has another secret. */
function refusalResults(at: string | null): CheckResult[] {
  if (at === null) return [];
  const reason = `the last post from another host, at ${at}, was refused: it had another secret`;
  return [note("WEBHOOK_SECRET_REFUSED", reason, REFUSED_SENDER)];
}

/** What the service knows of the gateway; nothing where it has not asked yet. */
export function gatewayResults({ gatewayOpen, pendingMessages }: ServiceHealth): CheckResult[] {
  if (gatewayOpen === false) return [needsDoctor(fail("sem_instancia_gateway", "gateway disconnected"))];
  if (pendingMessages !== null && pendingMessages > 0)
    return [needsDoctor(warn("MESSAGES_NOT_ACKNOWLEDGED", `${pendingMessages} ${NOT_ACKNOWLEDGED}`))];
  return gatewayOpen === null ? [] : [pass("gateway connected")];
}

const NOT_ACKNOWLEDGED = "messages that the gateway accepted are not acknowledged by WhatsApp";

/** What is queued, and what is not delivered or of an unknown result. */
export function queueResults(queues: Queues): CheckResult[] {
  const { queued, oldestSeconds, inDoubt } = countsOf(queues);
  const oldest = oldestSeconds === null ? "" : `, the oldest for ${shortTime(oldestSeconds * 1000)}`;
  const isLate = oldestSeconds !== null && oldestSeconds * 1000 > LONG_WAIT_MS;
  const text = queued === 0 ? "nothing queued" : `${queued} queued${oldest}`;
  const waiting = isLate ? warn("OUTBOX_DELAYED", text, command("opsctl webhook queue list")) : pass(text);
  // `--all` includes what is unknown, and would send that again.
  const retry = inDoubt > 0 ? "Retry each with opsctl webhook dead retry --row <id>" : RETRY_ALL;
  const failed = OUTBOX_KINDS.flatMap((kind) => [
    ...counted(queues[kind].dead, (count) =>
      warn(
        "OUTBOX_DEAD",
        `${numberOf(count, kind)} not delivered`,
        command(LIST_DEAD, `${retry}; first see them:`),
      ),
    ),
    ...counted(queues[kind].inDoubt, (count) =>
      warn(
        "OUTBOX_UNKNOWN",
        `${numberOf(count, kind)} unknown: ${count === 1 ? "it" : "they"} may have arrived`,
        command(LIST_DEAD, "Retry or drop each; first see them:"),
      ),
    ),
  ]);
  return [waiting, ...failed];
}

const RETRY_ALL = "Retry all with opsctl webhook dead retry --all";

function numberOf(count: number, kind: OutboxKind): string {
  return `${count} ${count === 1 ? kind : `${kind}s`}`;
}

function counted(count: number, result: (count: number) => CheckResult): CheckResult[] {
  return count === 0 ? [] : [result(count)];
}

/** The values behind the results, over all kinds; `outbox` is null where the service could not count it. */
function factsOf({ outbox, holds, secretRefusedAt: _, ...health }: ServiceHealth): object {
  return {
    ...health,
    outbox: outbox === null ? null : countsOf(outbox),
    holds: OUTBOX_KINDS.flatMap((kind) => (holds[kind] === null ? [] : [{ kind, code: holds[kind] }])),
  };
}

function countsOf(queues: Queues) {
  const kinds = OUTBOX_KINDS.map((kind) => queues[kind]);
  const sum = (key: "queued" | "dead" | "inDoubt") => kinds.reduce((total, kind) => total + kind[key], 0);
  const ages = kinds.map(({ oldestQueuedAgeMs }) => oldestQueuedAgeMs).filter((age) => age !== null);
  return {
    queued: sum("queued"),
    oldestSeconds: ages.length === 0 ? null : Math.round(Math.max(...ages) / 1000),
    givenUp: sum("dead"),
    inDoubt: sum("inDoubt"),
  };
}

/** The result where nothing answers at the admin port: stopped, or started again and again with refused settings. */
export const NOT_ANSWERING = needsDoctor(
  warn(
    "WEBHOOK_NOT_ANSWERING",
    "the service does not answer",
    command("systemctl start opsctl-webhook.socket opsctl-webhook.service"),
  ),
);
