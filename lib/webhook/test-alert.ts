import * as v from "valibot";
import { OpsError } from "../platform/errors.ts";
import { member } from "../platform/http/answer.ts";
import { callPeer } from "../platform/http/call-peer.ts";
import type { Secret } from "../platform/secrets/secret.ts";
import { ALERT_GATEWAY, gatewayAdvice } from "../providers/evolution/advice.ts";
import { prose } from "../text/terminal/prose.ts";
import type { Screen } from "../text/terminal/screen.ts";
import type { State } from "./store/outbox.ts";

const WHATSAPP = {
  sent: "sent",
  queued: "accepted, not sent yet",
  failed: "undelivered",
  unknown: "sent, but the gateway did not confirm it: check the phone",
} as const;
const ISSUE = {
  created: "created",
  queued: "accepted, not created yet",
  refused: "refused by Linear",
  failed: "undelivered",
  not_firing: "skipped (--without-issue)",
} as const;

/** The result of a test alert, with what was recorded after the answer; `codes` has why something is not delivered. */
export type TestReport = {
  fingerprint: string;
  whatsapp: keyof typeof WHATSAPP;
  issue: keyof typeof ISSUE;
  issueId: string | null;
  codes: { message?: string | undefined; issue?: string | undefined };
};

/** What sending a test alert needs; `state` is null where it cannot be read. */
export type TestAlertDependencies = {
  url: URL;
  secret: Secret;
  fingerprint: string;
  nowIso: string;
  state: Pick<State, "latest" | "lanes"> | null;
  waitMs: number;
  sleep: (ms: number) => Promise<void>;
};

const LOOK_MS = 500;
const SEE_LOG = "The service's log says why: journalctl -u opsctl-webhook";
/** The report's words for a row's state. */
const MESSAGE = { queued: "queued", delivered: "sent", dead: "failed", unknown: "unknown" } as const;
const CREATION = { queued: "queued", delivered: "created", dead: "failed", unknown: "failed" } as const;

const alertSchema = v.object({
  whatsapp: v.picklist(["sent", "queued"]),
  issue: v.picklist(["created", "duplicate", "queued", "refused", "not_firing"]),
  issueId: v.nullish(v.string(), null),
});
const answerSchema = v.object({ alerts: v.tuple([alertSchema]) });

/**
 * Posts an alert that says it is a test, and follows it until it is delivered or `waitMs` is over.
 *
 * Errors: WEBHOOK_UNREACHABLE, WEBHOOK_REFUSED; then nothing was accepted.
 */
export async function sendTestAlert(
  { url, secret, fingerprint, nowIso, state, waitMs, sleep }: TestAlertDependencies,
  { withIssue }: { withIssue: boolean },
): Promise<TestReport> {
  const { whatsapp, issue, issueId } = await post(url, secret, {
    // Every status but `firing` gets a message and no issue.
    status: withIssue ? "firing" : "test",
    labels: { alertname: "Teste do opsctl", severity: "info" },
    annotations: {
      summary: "Alerta de teste: nenhuma ação é necessária",
      description: "Enviado por opsctl webhook test. Se você lê isto, os alertas chegam ao WhatsApp.",
    },
    ...{ startsAt: nowIso, fingerprint },
  });
  const first = issue === "duplicate" ? "queued" : issue;
  const report: TestReport = { fingerprint, whatsapp, issue: first, issueId, codes: {} };
  for (let leftMs = waitMs; state !== null && leftMs > 0; leftMs -= LOOK_MS) {
    if (report.whatsapp !== "queued" && report.issue !== "queued") break;
    await sleep(LOOK_MS);
    await update(report, state);
  }
  return report;
}

async function post(url: URL, secret: Secret, body: object) {
  const headers = { "x-webhook-secret": secret.open() };
  const call = { peer: "webhook", method: "POST", url, headers, body, timeoutMs: 30_000 } as const;
  const { status, answer, problem } = await callPeer({ ...call, definitive: () => true });
  const parsed = v.safeParse(answerSchema, answer?.json);
  if (status === "answered" && parsed.success) return parsed.output.alerts[0];
  const message = `Cannot send a test alert to ${url.origin}: `;
  if (answer === null) {
    const hint = "Is the service running? systemctl status opsctl-webhook";
    throw new OpsError({ code: "WEBHOOK_UNREACHABLE", message: message + problem, hint });
  }
  // A service of opsctl names the reason in its answer; another program that listens there does not.
  const code = member(member(answer.json, "error"), "code");
  const isOurs = typeof code === "string" && /^[a-z_]{1,64}$/.test(code);
  const why = `the answer was HTTP ${answer.status}${isOurs ? ` (${code})` : ""}`;
  const hint = isOurs ? SEE_LOG : "Another program may listen there; see the service's log";
  throw new OpsError({
    ...{ code: "WEBHOOK_REFUSED", message: message + why },
    hint: answer.status === 401 ? "The service was started with another WEBHOOK_SECRET" : hint,
  });
}

/** Brings the report up to date with the rows of its alert. */
async function update(report: TestReport, state: Pick<State, "latest" | "lanes">): Promise<void> {
  const { message, issue } = await state.latest(report.fingerprint);
  const lanes = await state.lanes();
  const codeOf = (kind: "message" | "issue", row: { status: string; code: string | null } | undefined) =>
    row?.code ?? (row?.status === "queued" ? lanes[kind].pausedBy : null) ?? undefined;
  report.codes = { message: codeOf("message", message), issue: codeOf("issue", issue) };
  if (message) report.whatsapp = MESSAGE[message.status];
  if (issue && report.issue === "queued") report.issue = CREATION[issue.status];
}

/** Renders the report. */
export function renderTestReport({ whatsapp, issue, codes }: TestReport, screen: Screen): string {
  const because = (code: string | undefined) => (code === undefined ? "" : ` (${code})`);
  const advice = codes.message === undefined ? null : gatewayAdvice({ code: codes.message }, ALERT_GATEWAY);
  const lines = [`WhatsApp  ${WHATSAPP[whatsapp]}${because(codes.message)}`];
  if (advice !== null)
    lines.push(`          ${advice.problem}`, `          -> ${advice.fix}; opsctl doctor webhook says more`);
  lines.push(`Issue     ${ISSUE[issue]}${because(codes.issue)}`);
  if (issue === "refused") lines.push("          -> opsctl webhook dead list has the reason");
  return prose(lines, screen);
}
