import * as v from "valibot";
import { OpsError } from "../platform/errors.ts";
import { member, type PeerAnswer } from "../platform/http/answer.ts";
import { callPeer } from "../platform/http/call-peer.ts";
import type { Secret } from "../platform/secrets/secret.ts";
import { ALERT_GATEWAY, gatewayAdvice } from "../providers/evolution/advice.ts";
import { prose } from "../text/terminal/prose.ts";
import type { Screen } from "../text/terminal/screen.ts";
import type { AlertAnswer } from "./alert-answer.ts";
import type { Hold, LatestRow, OutboxKind, State } from "./state/contract.ts";

/**
 * What became of a test alert: the service's answer, brought up to date with what was recorded later.
 *
 * Shape: the words of `AlertAnswer`, `failed` for what was given up and `in_doubt` for what the gateway may have sent;
 *        `codes` has why something is not delivered yet.
 */
export type TestReport = {
  fingerprint: string;
  whatsapp: AlertAnswer["whatsapp"] | "failed" | "in_doubt";
  issue: Exclude<AlertAnswer["issue"], "duplicate">;
  issueId: string | null;
  codes: Partial<Record<OutboxKind, string>>;
};

/** The part of the answer that the report begins with. */
type FirstAnswer = Pick<AlertAnswer, "whatsapp" | "issue" | "issueId">;

/** What sending a test alert needs; `state` is null where it cannot be read. */
export type TestAlertDependencies = {
  url: URL;
  secret: Secret;
  fingerprint: string;
  nowIso: string;
  state: Pick<State, "latest" | "holds"> | null;
  waitMs: number;
  sleep: (ms: number) => Promise<void>;
  monotonicMs: () => number;
};

const LIMIT_MS = 30_000;
const LOOK_MS = 500;

const answerSchema = v.object({
  alerts: v.tuple([
    v.object({
      whatsapp: v.picklist(["sent", "queued"]),
      issue: v.picklist(["created", "duplicate", "queued", "refused", "failed", "not_firing"]),
      issueId: v.optional(v.string()),
    }),
  ]),
});

/**
 * Posts an alert that says it is a test, and follows it until it is delivered or `waitMs` is over.
 *
 * Errors: WEBHOOK_UNREACHABLE, WEBHOOK_REFUSED; then nothing was accepted.
 */
export async function sendTestAlert(
  dependencies: TestAlertDependencies,
  { withIssue }: { withIssue: boolean },
): Promise<TestReport> {
  const answer = await post(dependencies, testAlert(dependencies, withIssue));
  const report: TestReport = {
    fingerprint: dependencies.fingerprint,
    whatsapp: answer.whatsapp,
    issue: answer.issue === "duplicate" ? "queued" : answer.issue,
    issueId: answer.issueId ?? null,
    codes: {},
  };
  await follow(dependencies, report);
  return report;
}

function testAlert({ fingerprint, nowIso }: TestAlertDependencies, withIssue: boolean): object {
  return {
    // Every status but `firing` gets a message and no issue.
    status: withIssue ? "firing" : "test",
    labels: { alertname: "Teste do opsctl", severity: "info" },
    annotations: {
      summary: "Alerta de teste: nenhuma ação é necessária",
      description: "Enviado por opsctl webhook test. Se você lê isto, o caminho dos alertas funciona.",
    },
    startsAt: nowIso,
    fingerprint,
  };
}

async function post({ url, secret }: TestAlertDependencies, alert: object): Promise<FirstAnswer> {
  const result = await callPeer({
    peer: "webhook",
    method: "POST",
    url,
    headers: { "x-webhook-secret": secret.open() },
    body: alert,
    timeoutMs: LIMIT_MS,
    definitive: () => true,
  });
  const parsed = v.safeParse(answerSchema, result.answer?.json);
  if (result.status === "answered" && parsed.success) return parsed.output.alerts[0] as FirstAnswer;
  if (result.answer === null)
    throw new OpsError({
      code: "WEBHOOK_UNREACHABLE",
      message: `Cannot send a test alert to ${url.origin}: ${result.problem}`,
      hint: "Is the service running? systemctl status opsctl-webhook",
    });
  throw refusal(url, result.answer);
}

/** A service of opsctl names the reason in its answer; another program that listens there does not. */
function refusal(url: URL, { status, json }: PeerAnswer): OpsError {
  const code = member(member(json, "error"), "code");
  const reason = typeof code === "string" && /^[a-z_]{1,64}$/.test(code) ? code : null;
  return new OpsError({
    code: "WEBHOOK_REFUSED",
    message: `Cannot send a test alert to ${url.origin}: the answer was HTTP ${status}${reason === null ? "" : ` (${reason})`}`,
    hint: refusalHint(status, reason),
  });
}

function refusalHint(status: number, reason: string | null): string {
  if (status === 401) return "WEBHOOK_SECRET here is not the one that the service was started with";
  return reason === null
    ? "Another program may listen there; see the service's log"
    : "The service's log says why: journalctl -u opsctl-webhook";
}

/** Looks at the outbox until no row of the alert is queued any more, or `waitMs` is over. */
async function follow(dependencies: TestAlertDependencies, report: TestReport): Promise<void> {
  const { state, fingerprint, monotonicMs, waitMs, sleep } = dependencies;
  const deadlineMs = monotonicMs() + waitMs;
  while (state !== null && (report.whatsapp === "queued" || report.issue === "queued")) {
    update(report, await state.latest(fingerprint), await state.holds());
    if (monotonicMs() >= deadlineMs) return;
    if (report.whatsapp === "queued" || report.issue === "queued") await sleep(LOOK_MS);
  }
}

function update(
  report: TestReport,
  { message, issue }: Partial<Record<OutboxKind, LatestRow>>,
  holds: Readonly<Record<OutboxKind, Hold | null>>,
): void {
  report.codes = {};
  const codes = { message: codeOf(message, holds.message), issue: codeOf(issue, holds.issue) };
  if (codes.message !== null) report.codes.message = codes.message;
  if (codes.issue !== null) report.codes.issue = codes.issue;
  if (message && message.status !== "queued")
    report.whatsapp = ({ delivered: "sent", dead: "failed", in_doubt: "in_doubt" } as const)[message.status];
  if (issue && issue.status !== "queued" && report.issue === "queued")
    report.issue = issue.status === "delivered" ? "created" : "failed";
}

/** Why a row is not delivered: its own code, or why its channel holds when it was not tried yet. */
function codeOf(row: LatestRow | undefined, hold: Hold | null): string | null {
  if (row === undefined) return null;
  return row.code ?? (row.status === "queued" ? (hold?.code ?? null) : null);
}

/** The report for people. */
export function renderTestReport(report: TestReport, screen: Screen): string {
  const because = (kind: OutboxKind) => (report.codes[kind] === undefined ? "" : ` (${report.codes[kind]})`);
  const whatsapp = {
    sent: "sent",
    queued: "accepted, not sent yet",
    failed: "given up",
    in_doubt: "sent, and the gateway did not say whether it took it: look at the phone",
  }[report.whatsapp];
  const issue = {
    created: "created",
    queued: "accepted, not created yet",
    refused: "refused by the tracker",
    failed: "given up",
    not_firing: "none was asked for",
  }[report.issue];
  const lines = [`WhatsApp  ${whatsapp}${because("message")}`, ...mendOf(report.codes.message)];
  lines.push(`Issue     ${issue}${because("issue")}`);
  if (report.issue === "refused") lines.push("          -> opsctl webhook dead list has the reason");
  return prose(lines, screen);
}

/** What to do about a message that waits; the state keeps only the code, so `doctor` says more. */
function mendOf(code: string | undefined): string[] {
  const advice = code === undefined ? null : gatewayAdvice({ code }, ALERT_GATEWAY);
  if (advice === null) return [];
  return [`          ${advice.problem}`, `          -> ${advice.fix}; opsctl doctor webhook says more`];
}
