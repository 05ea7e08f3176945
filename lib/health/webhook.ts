import { ALERT_GATEWAY, gatewayAdvice } from "../providers/evolution/advice.ts";
import type { WebhookPorts } from "../webhook/config.ts";
import { readServiceHealth, type ServiceHealth } from "../webhook/http/health-client.ts";
import { OUTBOX_KINDS, type OutboxKind } from "../webhook/store/model.ts";
import type { KindStats } from "../webhook/store/reads.ts";
import {
  type CheckResult,
  command,
  fail,
  type Health,
  NOT_SET_UP,
  notChecked,
  note,
  only,
  pass,
  shortTime,
  warn,
} from "./result.ts";

const JOURNAL = command("journalctl -u opsctl-webhook.service -n 50");
/** What starts the service, and shows why it does not stay. */
export const START = command(
  `systemctl start opsctl-webhook.socket opsctl-webhook.service; ${JOURNAL.command}`,
);

/** What is queued for longer than this does not only wait for the rate limit. */
const LONG_WAIT_MS = 15 * 60_000;
const LIST_DEAD = "opsctl webhook dead list";
const RETRY_ALL = "Retry all with opsctl webhook dead retry --all";
const CORRECT_TOKEN =
  "Correct ISSUE_TRACKER_TOKEN (opsctl secret set), then systemctl reload opsctl-webhook.service";
const NOT_ACKNOWLEDGED = "messages that the gateway accepted are not acknowledged by WhatsApp";
const REFUSED_SENDER = command(
  'journalctl -u opsctl-webhook.service -g "A request was refused" -n 5',
  "If Grafana sent it, write it the secret again (opsctl alert-rules contact-point apply --rotate --url " +
    "https://<alert host>/webhook). Who sent it:",
);

/**
 * The health of the webhook by what its running service reports.
 *
 * Behaviour: a service whose admin port is off is not called; whether it runs is what systemd says.
 */
export async function readWebhookHealth(
  { adminPort }: Pick<WebhookPorts, "adminPort">,
  { limitMs, isSetUp }: { limitMs: number; isSetUp: boolean },
  signal: AbortSignal,
): Promise<Health> {
  const service = await readServiceHealth({ adminPort, limitMs }, signal);
  if (service !== null) return webhookHealth(service);
  if (!isSetUp) return NOT_SET_UP;
  if (adminPort !== 0) return only(fail("WEBHOOK_NOT_ANSWERING", "the service does not answer", START));
  return { ...only(UNSEEN, { adminPort }), isOutdated: true };
}

const UNSEEN: CheckResult = {
  ...notChecked(
    "WEBHOOK_NOT_ANSWERING",
    "its admin port is off, so the service is not called",
    "Turn the admin port on (WEBHOOK_ADMIN_PORT in webhook.env), so that the service can be asked",
  ),
  isNote: true,
};

/** The health of a service that reports this. */
function webhookHealth(service: ServiceHealth): Health {
  const { isReady, isLeader, outbox, secretRefusedAt, gatewayOpen, pendingMessages } = service;
  const up = pass(isLeader ? "up" : "up, another host delivers");
  const results = [isReady ? up : fail("WEBHOOK_NOT_READY", "it runs and cannot accept alerts", JOURNAL)];
  // What the service has not asked yet is not known.
  if (gatewayOpen === false) results.push(fail("sem_instancia_gateway", "gateway disconnected"));
  else if (pendingMessages !== null && pendingMessages > 0)
    results.push(warn("MESSAGES_NOT_ACKNOWLEDGED", `${pendingMessages} ${NOT_ACKNOWLEDGED}`));
  else if (gatewayOpen) results.push(pass("gateway connected"));
  if (outbox === null) results.push(fail("STATE_UNREADABLE", "the queue cannot be counted", JOURNAL));
  else results.push(...queueResults(outbox));
  const paused = OUTBOX_KINDS.flatMap((kind) => {
    const code = service.paused[kind];
    return code === null ? [] : [{ kind, code }];
  });
  for (const { kind, code } of paused) {
    const of = kind === "message" ? "the gateway" : "the issue tracker";
    const fix = kind === "message" ? gatewayAdvice({ code }, ALERT_GATEWAY)?.fix : CORRECT_TOKEN;
    results.push(fail(code, `${kind}s are paused until ${of} accepts them again`, fix ?? null));
  }
  // A stranger's post looks the same as one of a Grafana that has another secret.
  if (secretRefusedAt !== null) {
    const reason = `the last post from another host, at ${secretRefusedAt}, was refused: it had no secret or another one`;
    results.push(note("WEBHOOK_SECRET_REFUSED", reason, REFUSED_SENDER));
  }
  const facts = { isReady, isLeader, gatewayOpen, pendingMessages, paused };
  return { results, facts: { ...facts, outbox: outbox === null ? null : countsOf(outbox) } };
}

/** What is queued, and what is undelivered or of an unknown result. */
function queueResults(queues: Record<OutboxKind, KindStats>): CheckResult[] {
  const { queued, oldestSeconds, unknown: anyUnknown } = countsOf(queues);
  const oldest = oldestSeconds === null ? "" : `, the oldest for ${shortTime(oldestSeconds * 1000)}`;
  const isLate = oldestSeconds !== null && oldestSeconds * 1000 > LONG_WAIT_MS;
  const text = queued === 0 ? "nothing queued" : `${queued} queued${oldest}`;
  const results = [isLate ? warn("OUTBOX_DELAYED", text, command("opsctl webhook queue list")) : pass(text)];
  // `--all` includes what is unknown, and would send that again.
  const retry = anyUnknown > 0 ? "Retry each with opsctl webhook dead retry --row <id>" : RETRY_ALL;
  for (const kind of OUTBOX_KINDS) {
    const { dead, unknown } = queues[kind];
    const named = (count: number) => `${count} ${count === 1 ? kind : `${kind}s`}`;
    if (dead > 0)
      results.push(
        warn("OUTBOX_DEAD", `${named(dead)} not delivered`, command(LIST_DEAD, `${retry}; first see them:`)),
      );
    if (unknown > 0) {
      const reason = `${named(unknown)} unknown: ${unknown === 1 ? "it" : "they"} may have arrived`;
      results.push(warn("OUTBOX_UNKNOWN", reason, command(LIST_DEAD, "Retry or drop each; first see them:")));
    }
  }
  return results;
}

/** What is queued, undelivered and unknown over all kinds. */
function countsOf(queues: Record<OutboxKind, KindStats>) {
  const kinds = OUTBOX_KINDS.map((kind) => queues[kind]);
  const sum = (key: "queued" | "dead" | "unknown") => kinds.reduce((total, kind) => total + kind[key], 0);
  const ages = kinds.map(({ oldestQueuedAgeMs }) => oldestQueuedAgeMs).filter((age) => age !== null);
  const oldestSeconds = ages.length === 0 ? null : Math.round(Math.max(...ages) / 1000);
  return { queued: sum("queued"), oldestSeconds, undelivered: sum("dead"), unknown: sum("unknown") };
}
