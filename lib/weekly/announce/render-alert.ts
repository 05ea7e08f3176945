import { createHash } from "node:crypto";
import { failureRank } from "../../last-run/failure-rank.ts";
import { type WeekStep, weekSteps } from "../../ledger/week-steps.ts";
import { socialVerdict } from "../../ledger/week-verdict.ts";
import { formatCount, formatDayMonth, joinNames } from "../../text/pt-br.ts";
import { REPORT_ZONE } from "../../time/local-date.ts";
import { Temporal } from "../../time/temporal.ts";
import type { WeeklySummary } from "../context/summary.ts";

/** The name of the alert, the same for every week. */
const ALERT_NAME = "Relatório semanal falhou";

/** An alert as the webhook takes it: its simple shape, one alert. */
export type RunAlert = {
  status: "firing" | "resolved";
  labels: Record<string, string>;
  annotations: { summary: string; description: string };
  startsAt: string;
  endsAt?: string;
  fingerprint: string;
};

/** What an alert about a run is made of: `at` is when the run ended, `startsAt` when the first failure was told. */
export type RunAlertFacts = {
  summary: WeeklySummary;
  severity: "critical" | "warning";
  week: string;
  host: string;
  startsAt: string;
  at: string;
};

/** The text by which all alerts of one week are the same alert. */
export function weekFingerprint(week: string): string {
  return createHash("md5").update(`opsctl-weekly\n${week}`, "utf8").digest("hex");
}

/** The alert about a run that failed. */
export function renderFiring(facts: RunAlertFacts): RunAlert {
  const { summary, week } = facts;
  const code = leadingCode(summary);
  const because = code === null ? "" : ` (${code})`;
  return {
    ...commonParts(facts),
    status: "firing",
    annotations: {
      summary: `${weekName(week)}: ${openText(summary)}${because}. ${prospect(summary)}`,
      description: commands(summary, week).join("\n"),
    },
  };
}

/** The alert that ends it: a run of the same week has succeeded. */
export function renderResolved(facts: RunAlertFacts): RunAlert {
  const { week, at } = facts;
  return {
    ...commonParts(facts),
    status: "resolved",
    endsAt: at,
    annotations: {
      summary: `${weekName(week)}: a execução terminou com sucesso`,
      description: `Ver a semana: opsctl reports status --week ${week}`,
    },
  };
}

function commonParts({ severity, week, host, startsAt }: RunAlertFacts) {
  const labels = { alertname: ALERT_NAME, severity, ruleGroup: "vps-infra", week, host };
  return { labels, startsAt, fingerprint: weekFingerprint(week) };
}

function weekName(week: string): string {
  const first = Temporal.PlainDate.from(week);
  return `Semana de ${formatDayMonth(first)} a ${formatDayMonth(first.add({ days: 6 }))}`;
}

/** Why the run broke off, else the code of its most telling failure. */
function leadingCode({ error, failures }: WeeklySummary): string | null {
  if (error !== null) return error.code;
  const [first] = [...failures].sort((one, other) => failureRank(other) - failureRank(one));
  return first?.code ?? null;
}

function openText(summary: WeeklySummary): string {
  const { status, window, week, reports } = summary;
  if (status === "not_ready" || window === null) return "nada foi enviado por esta execução";
  // A run that broke down could not say how far it had come.
  if (week === null && reports.scopes === 0) return "a execução parou, e não se sabe o que ficou aberto";
  const parts = openParts(summary);
  return parts.length > 0 ? parts.join("; ") : "nenhum envio ficou aberto, mas a execução falhou";
}

/** What is open, by the ledger where it is known, else by this run's own counters. */
function openParts(summary: WeeklySummary): string[] {
  const { owners, reports, channels } = countsOf(summary);
  const { editorials } = summary;
  return [
    reports > 0 ? `${formatCount(reports, "relatório aberto", "relatórios abertos")} de ${owners}` : null,
    ...channels.map(([name, counts]) => channelText(name, counts)),
    editorials.status === "failed" ? `editoriais: ${editorials.code ?? "falharam"}` : null,
  ].filter((part) => part !== null);
}

type ChannelCounts = Record<"failed" | "unknown" | "partial" | "running" | "missing", number>;
type Counts = { owners: number; reports: number; channels: [name: string, counts: ChannelCounts][] };

function channelText(
  name: string,
  { failed, unknown, partial, running, missing }: ChannelCounts,
): string | null {
  const counted: [count: number, singular: string, plural: string][] = [
    [failed + missing, "não enviado", "não enviados"],
    [unknown, "em dúvida", "em dúvida"],
    [partial, "sem registro completo", "sem registro completo"],
    [running, "em andamento", "em andamento"],
  ];
  const texts = counted.filter(([count]) => count > 0).map((words) => formatCount(...words));
  return texts.length === 0 ? null : `${name}: ${joinNames(texts)}`;
}

function countsOf({ week, reports, whatsapp, email }: WeeklySummary): Counts {
  if (week !== null) {
    const { running, failed, missing } = week.reports;
    const channels: Counts["channels"] = [
      ["WhatsApp", week.whatsapp],
      ["e-mail", week.email],
    ];
    return { owners: week.owners, reports: running + failed + missing, channels };
  }
  const own = (counts: WeeklySummary["email"]) => ({ ...counts, running: 0, missing: counts.skipped });
  const { scopes, completed, reused, ineligible } = reports;
  const channels: Counts["channels"] = [
    ["WhatsApp", own(whatsapp)],
    ["e-mail", own(email)],
  ];
  return { owners: scopes, reports: Math.max(0, scopes - completed - reused - ineligible), channels };
}

/** Why no run of the same Monday would help, by the step that does; `none` where nothing does. */
const WITHOUT_RUN: Readonly<Record<Exclude<WeekStep, "run"> | "none", string>> = {
  "look-up": "Repetir não resolve: o que está em dúvida nunca é reenviado sozinho",
  repair: "Repetir não resolve: falta só o registro na linha do tempo",
  wait: "Outra execução ainda trabalha nela",
  none: "Repetir não resolve: nenhuma execução lê estas redes de novo",
};

/** Steps of a run that another one makes good, and that the ledger does not hold. */
const BESIDE_LEDGER: ReadonlySet<string> = new Set([
  ...["scope", "editorials", "heartbeat", "readiness", "week", "run"],
]);

/** What helps, in order: another run, too, where the ledger does not hold all that failed, or was not read. */
function stepsOf(summary: WeeklySummary): WeekStep[] {
  if (summary.week === null) return ["run"];
  const steps = weekSteps(summary.week, { isClosed: false });
  const isUnexplained = steps.length === 0 && socialVerdict(summary.week) === null;
  const isForRun = isUnexplained || hasFailedBeside(summary);
  return isForRun && !steps.includes("run") ? ["run", ...steps] : steps;
}

/** Whether something failed that stands in no ledger. */
function hasFailedBeside({ error, failures, editorials, heartbeat }: WeeklySummary): boolean {
  const isOfRun = error !== null || editorials.status === "failed" || heartbeat === "failed";
  return isOfRun || failures.some(({ step }) => BESIDE_LEDGER.has(step));
}

/** What can still come of the week: until when it can be repeated, or why that would change nothing. */
function prospect(summary: WeeklySummary): string {
  const [step = "none"] = summary.retryableUntil === null ? ["run" as const] : stepsOf(summary);
  return step === "run" ? repeatable(summary) : WITHOUT_RUN[step];
}

function repeatable({ retryableUntil, finishedAt }: WeeklySummary): string {
  if (retryableUntil === null) return "Só pode ser enviada na segunda-feira, até a meia-noite de São Paulo";
  const until = Temporal.Instant.from(retryableUntil);
  if (finishedAt !== null && Temporal.Instant.compare(Temporal.Instant.from(finishedAt), until) >= 0)
    return "A segunda-feira acabou: esta semana não pode mais ser repetida";
  // That midnight belongs to Tuesday; people know it as the end of Monday.
  const monday = until.subtract({ nanoseconds: 1 }).toZonedDateTimeISO(REPORT_ZONE);
  return `Pode ser repetida até a meia-noite de ${formatDayMonth(monday)} (São Paulo)`;
}

function commands(summary: WeeklySummary, name: string): string[] {
  const { status, week, whatsapp, email } = summary;
  if (status === "not_ready")
    return ["O que falta: sudo opsctl doctor weekly", `Depois de corrigir, repetir: sudo opsctl weekly`];
  const steps = stepsOf(summary);
  const doubts =
    week === null ? whatsapp.unknown + email.unknown : week.whatsapp.unknown + week.email.unknown;
  return [
    `O que está aberto: sudo opsctl reports status --week ${name}`,
    `Quem ficou sem: sudo opsctl reports list --week ${name} --state open`,
    ...(doubts > 0 ? [`Em dúvida, nunca reenviado sozinho: sudo opsctl deliveries look-up --all`] : []),
    ...(steps.includes("repair") ? [`Falta só o registro: sudo opsctl deliveries repair`] : []),
    ...(steps.includes("run") ? [`Repetir: sudo opsctl weekly`] : []),
  ];
}
