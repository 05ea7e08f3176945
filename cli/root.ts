import { commandsOf, group } from "./framework/command.ts";

const deliveries = commandsOf(() => import("./commands/deliveries.ts"));
const outbox = commandsOf(() => import("./commands/webhook/outbox.ts"));
const reports = commandsOf(() => import("./commands/reports.ts"));
const secret = commandsOf(() => import("./commands/secret.ts"));
const rules = commandsOf(() => import("./commands/alert-rules.ts"));
const weekly = commandsOf(() => import("./commands/weekly.ts"));
const serve = commandsOf(() => import("./commands/webhook/serve.ts"));
const test = commandsOf(() => import("./commands/webhook/test.ts"));
const collectMetrics = commandsOf(() => import("./commands/host/collect-metrics.ts"));
const socketMonitor = commandsOf(() => import("./commands/host/socket-monitor.ts"));
const migrate = commandsOf(() => import("./commands/migrate.ts"));
const reportsPreview = commandsOf(() => import("./commands/reports-preview.ts"));
const deliveriesLookUp = commandsOf(() => import("./commands/deliveries-look-up.ts"));
const status = commandsOf(() => import("./commands/host/status.ts"));
const doctor = commandsOf(() => import("./commands/host/doctor.ts"));
const explain = commandsOf(() => import("./commands/static/explain.ts"));
const help = commandsOf(() => import("./commands/static/help.ts"));
const version = commandsOf(() => import("./commands/static/version.ts"));
const completion = commandsOf(() => import("./commands/static/completion.ts"));

/** The command tree: names and descriptions; the file of a command is imported when it is called. */
export const root = group("Weekly reports for tenant owners, and the alarm of the host they run on", {
  weekly: weekly("weekly", "Build and deliver the weekly performance reports"),
  webhook: group("Turn alerts into WhatsApp messages and issues", {
    serve: serve("webhookServe", "Serve the alert webhook until a signal ends it"),
    test: test("webhookTest", "Send one labelled test alert through a running service"),
    queue: group("List or remove what waits to be delivered", {
      list: outbox("webhookQueueList", "List what waits, in the order in which it is sent"),
      drop: outbox("webhookQueueDrop", "Remove waiting rows for good: they are not sent"),
    }),
    dead: group("List, retry or remove what could not be delivered in time", {
      list: outbox(
        "webhookDeadList",
        "List undelivered rows, and rows with an unknown result, the oldest first",
      ),
      retry: outbox(
        "webhookDeadRetry",
        "Retry undelivered rows, or rows with an unknown result, for 24 hours",
      ),
      drop: outbox("webhookDeadDrop", "Remove undelivered rows, or rows with an unknown result, for good"),
    }),
  }),
  "collect-metrics": collectMetrics("collectMetrics", "Write the host's metrics for the monitoring agent"),
  "socket-monitor": socketMonitor(
    "socketMonitor",
    "Alert by WhatsApp when the host has too many TCP sockets",
  ),
  migrate: migrate("migrate", "Apply opsctl's database migrations"),
  reports: group("Inspect a week's reports", {
    status: reports(
      "reportsStatus",
      "Show a week in one screen: what is done, what is open, what comes next",
    ),
    list: reports("reportsList", "List the owners of a week, with report, deliveries and missing data"),
    show: reports("reportsShow", "Show what happened to a report, from its claim to the providers' ids"),
    preview: reportsPreview(
      "reportsPreview",
      "Show the messages of a tenant's report, as they were or would be sent",
    ),
    prune: reports("reportsPrune", "Remove the content of older weeks' reports for good"),
  }),
  deliveries: group("Inspect deliveries and resolve unknown ones", {
    list: deliveries("deliveriesList", "List deliveries, those of the newest week first"),
    show: deliveries("deliveriesShow", "Show one delivery and how it was reconciled"),
    "look-up": deliveriesLookUp("deliveriesLookUp", "Ask the provider for evidence about unknown deliveries"),
    reconcile: deliveries(
      "deliveriesReconcile",
      "Settle an unknown delivery manually, with a reason that is kept",
    ),
    repair: deliveries("deliveriesRepair", "Write the timeline entries that sent deliveries lack"),
  }),
  "alert-rules": group("Manage Grafana alert rules as code", {
    export: rules("alertRulesExport", "Print the alert rules as a JSON array"),
    plan: rules("alertRulesPlan", "Show what `apply` would change in Grafana; change nothing"),
    apply: rules("alertRulesApply", "Create or update the alert rules in Grafana; delete nothing"),
    "contact-point": group("Manage the webhook's contact point in Grafana", {
      apply: rules("alertRulesContactPointApply", "Create or update the webhook's contact point in Grafana"),
    }),
    dashboard: rules(
      "alertRulesDashboard",
      "Print the Grafana dashboard of host, alerts and weekly run as JSON",
    ),
  }),
  secret: group("Manage secrets", {
    set: secret("secretSet", "Put a secret where the commands that need it find it"),
    list: secret("secretList", "List the secrets: where each is, how old, and which command needs it"),
  }),
  status: status("status", "Show every part of opsctl on this host, and what comes next"),
  doctor: doctor("doctor", "Check what the commands need on this host; change nothing"),
  explain: explain("explain", "Explain a code, and what to do"),
  help: help("help", "Show the help of a command, or all commands"),
  version: version("version", "Show version and commit"),
  completion: completion("completion", "Print the completion script for bash, zsh or fish"),
});
