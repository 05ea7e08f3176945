/** What people see of a host and of a weekly run, drawn by the renderers from made up data. */

import type { CommandName, Finding } from "../../../../lib/doctor/context.ts";
import { renderSummary as renderDoctor, renderFindings } from "../../../../lib/doctor/render.ts";
import {
  type CheckResult,
  command,
  fail,
  notChecked,
  note,
  notSetUp,
  pass,
  reasonText,
  warn,
} from "../../../../lib/health/result.ts";
import type { PartName } from "../../../../lib/platform/config/settings-table.ts";
import { renderStatus } from "../../../../lib/status/render.ts";
import type { PartReport } from "../../../../lib/status/run.ts";
import type { Screen } from "../../../../lib/text/terminal/screen.ts";
import { emptySummary, type WeeklySummary } from "../../../../lib/weekly/context/summary.ts";
import { renderSummary } from "../../../../lib/weekly/texts/summary-text.ts";
import { IDS } from "./ids.ts";

const [ID, TENANT, OTHER] = IDS as [string, string, string];

/** Each picture by its name. */
export const HOST_PICTURES: Record<string, (screen: Screen) => string> = {
  status: (screen) => renderStatus(PARTS, { ...screen, isTerminal: true, env: {} }),
  doctor: (screen) => renderDoctor(FINDINGS, screen, ""),
  "doctor-all": (screen) => renderFindings(FINDINGS, screen),
  weekly: (screen) => renderSummary(FAILED, screen),
  "weekly-dry-run": (screen) => renderSummary(READY, screen),
  "weekly-not-ready": (screen) => renderSummary(NOT_READY, screen),
};

const WEEK_OPEN =
  "week of 2026-11-16: OPEN: reports: 12 missing; networks: SOCIAL_DEGRADED; it can be repeated until 2026-11-24 00:00:00 (São Paulo)";
const REFUSED = note(
  "WEBHOOK_SECRET_REFUSED",
  "the last post from another host, at 2026-11-23T10:04:12.118Z, was refused: it had no secret or another one",
  command(
    'journalctl -u opsctl-webhook.service -g "A request was refused" -n 5',
    "If Grafana sent it, write it the secret again (opsctl alert-rules contact-point apply --rotate --url " +
      "https://<alert host>/webhook). Who sent it:",
  ),
);

const PART_ROWS: [PartName, PartReport["status"], string | null, ...lines: string[]][] = [
  [
    ...(["weekly", "attention", "sudo opsctl reports status"] as const),
    `${WEEK_OPEN} (WEEK_OPEN)`,
    "the record of the last run cannot be read: LAST_RUN_MALFORMED (LAST_RUN_UNREADABLE)",
  ],
  [
    ...(["webhook", "attention", "sudo opsctl doctor webhook"] as const),
    "up",
    "gateway disconnected (sem_instancia_gateway)",
    "3 queued, the oldest for 41 min (OUTBOX_DELAYED)",
    "2 messages not delivered (OUTBOX_DEAD)",
    "1 message unknown: it may have arrived (OUTBOX_UNKNOWN)",
    "messages are paused until the gateway accepts them again (sem_instancia_gateway)",
    reasonText(REFUSED),
  ],
  ["collector", "ok", null, "last run 22 s ago; every source read"],
  [
    ...(["socket-monitor", "unknown", "sudo opsctl status"] as const),
    "not checked: /var/log/opsctl/socket_monitor.log cannot be read: EACCES",
  ],
  ["alert-rules", "not_set_up", null, "not set up"],
];
const PARTS = PART_ROWS.map(([part, status, next, ...lines]) => ({ part, status, lines, next, facts: null }));

const of = (name: CommandName, ...found: [check: string, result: CheckResult][]): Finding[] =>
  found.map(([check, result]) => ({ command: name, check, ...result }));
const MISSING = fail(
  "CONFIG_INVALID",
  "DATABASE_URL is missing; expected a postgres:// URL with special characters of the password percent-encoded",
  command("opsctl secret set DATABASE_URL"),
);
const BEHIND = notChecked(
  "PREREQUISITE_FAILED",
  "the settings of weekly that it needs are incomplete, see configuration",
);

const FINDINGS: Finding[] = [
  ...of(
    "weekly",
    ["configuration", MISSING],
    [
      "environment file",
      fail(
        "ENV_FILE_MISSING",
        "/etc/opsctl/weekly.env does not exist: cron starts weekly without any other setting",
        command(
          "install -D -m 0600 -o opsctl /dev/null /etc/opsctl/weekly.env",
          "Create it for opsctl with mode 0600, then fill it in",
        ),
      ),
    ],
    ["database", BEHIND],
    [
      "recipients",
      warn(
        "RECIPIENTS_UNUSABLE",
        "6 owners: 1 without a usable phone, 0 without a usable e-mail",
        command(
          "opsctl weekly --dry-run --json",
          "Correct users.phone and users.email of the tenants that this names:",
        ),
      ),
    ],
  ),
  ...of(
    "webhook",
    ["configuration", pass("every setting is there and valid")],
    ["status", REFUSED],
    [
      "fallback channel",
      notSetUp(
        "a ping, by whose absence a check elsewhere notices that this host is gone",
        command(
          "systemctl reload opsctl-webhook.service",
          "Set OPSCTL_PING_URL in /etc/opsctl/webhook.env to the address of a check, then:",
        ),
      ),
    ],
  ),
  ...of(
    "collect-metrics",
    ["socket table", pass("ss and the kernel's counters can be read")],
    ["hosting provider", notChecked("PREREQUISITE_FAILED", "HOSTING_TOKEN cannot be read, see secrets")],
  ),
  ...of("alert-rules", [
    "configuration",
    notSetUp("this host does not use it", command("opsctl doctor alert-rules", "What it needs:")),
  ]),
  ...of("reports", ["configuration", MISSING]),
];

const WINDOW = { start: "2026-11-16T03:00:00Z", end: "2026-11-23T03:00:00Z", week: "2026-11-16" };
const COUNTS = { sent: 9_000, reused: 0, failed: 700, partial: 3, unknown: 12, skipped: 285 };
const empty = emptySummary({ version: "1.0.0", runId: ID, dryRun: false });

const FAILED: WeeklySummary = {
  ...empty,
  ...{ status: "failed", exitCode: 1, durationMs: 884_100, window: WINDOW, announced: "failed" },
  reports: {
    ...{ scopes: 10_000, completed: 9_800, reused: 20, busy: 20, failed: 150, ineligible: 10 },
    partialCoverage: 0,
  },
  social: { calls: 12_000, failed: 33 },
  whatsapp: COUNTS,
  email: { ...COUNTS, failed: 0, unknown: 5 },
  editorials: { ...empty.editorials, status: "failed", code: "WORKER_HTTP_401", calls: 1, llmCalls: 3 },
  heartbeat: "kept",
  retryableUntil: "2026-11-24T03:00:00Z",
  failures: [
    ...[TENANT, OTHER, ID, TENANT].map((tenantId) => ({
      ...{ step: "whatsapp" as const, code: "sem_instancia_gateway", cause: "instance_close" },
      ...{ tenantId, deliveryId: OTHER, providerMessageId: ID },
    })),
    { step: "email", code: "delivery_not_recorded", tenantId: TENANT, deliveryId: OTHER },
    { step: "editorials", code: "WORKER_HTTP_401" },
  ],
};

const READY: WeeklySummary = {
  ...empty,
  ...{ status: "ready", dryRun: true, exitCode: 0, durationMs: 2_300, window: WINDOW },
  reports: { ...FAILED.reports, scopes: 6 },
  whatsapp: { ...empty.whatsapp, failed: 1 },
  unproved: ["trigger_secret_unproved", "editorial_secret_unproved", "whatsapp_numbers_unproved"],
};

const NOT_READY: WeeklySummary = {
  ...empty,
  ...{ status: "not_ready", exitCode: 3 },
  error: {
    code: "CONFIG_INVALID",
    message: [
      "Cannot start: 2 settings are missing or invalid",
      "  APP_BASE_URL: is missing; expected the http or https URL that the paths are added to, such as https://app.example.com",
      "  WEBHOOK_SECRET: is missing; expected printable ASCII on one line; a secret:",
      "    opsctl secret set WEBHOOK_SECRET",
    ].join("\n"),
    hint: "Set them in /etc/opsctl/weekly.env; a secret by its command, or as a file of its name in /etc/opsctl/secrets with mode 0600",
  },
};
