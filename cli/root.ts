import { command, group } from "./framework/command.ts";

const deliveries = () => import("./commands/deliveries.ts");
const outbox = () => import("./commands/webhook/outbox.ts");
const reports = () => import("./commands/reports.ts");
const secret = () => import("./commands/secret.ts");
const rules = () => import("./commands/alert-rules.ts");

/** The command tree: names and descriptions; the file of a command is imported when it is called. */
export const root = group("Weekly reports for tenant owners, and the alarm of the host they run on", {
  weekly: command("Build and deliver the weekly performance reports", () =>
    import("./commands/weekly.ts").then((file) => file.weekly),
  ),
  webhook: group("Turn alerts into WhatsApp messages and issues", {
    serve: command("Serve the alert webhook until a signal ends it", () =>
      import("./commands/webhook/serve.ts").then((file) => file.webhookServe),
    ),
    test: command("Send one labelled test alert through a running service", () =>
      import("./commands/webhook/test.ts").then((file) => file.webhookTest),
    ),
    queue: group("List or remove what waits to be delivered", {
      list: command("List what waits, in the order in which it is sent", () =>
        outbox().then((file) => file.webhookQueueList),
      ),
      drop: command("Remove waiting rows for good: they are not sent", () =>
        outbox().then((file) => file.webhookQueueDrop),
      ),
    }),
    dead: group("List, retry or remove what could not be delivered in time", {
      list: command("List undelivered rows, and rows with an unknown result, the oldest first", () =>
        outbox().then((file) => file.webhookDeadList),
      ),
      retry: command("Retry undelivered rows, or rows with an unknown result, for 24 hours", () =>
        outbox().then((file) => file.webhookDeadRetry),
      ),
      drop: command("Remove undelivered rows, or rows with an unknown result, for good", () =>
        outbox().then((file) => file.webhookDeadDrop),
      ),
    }),
  }),
  "collect-metrics": command("Write the host's metrics for the monitoring agent", () =>
    import("./commands/host/collect-metrics.ts").then((file) => file.collectMetrics),
  ),
  "socket-monitor": command("Alert by WhatsApp when the host has too many TCP sockets", () =>
    import("./commands/host/socket-monitor.ts").then((file) => file.socketMonitor),
  ),
  migrate: command("Apply opsctl's database migrations", () =>
    import("./commands/migrate.ts").then((file) => file.migrate),
  ),
  reports: group("Inspect a week's reports", {
    status: command("Show a week in one screen: what is done, what is open, what comes next", () =>
      reports().then((file) => file.reportsStatus),
    ),
    list: command("List the owners of a week, with report, deliveries and missing data", () =>
      reports().then((file) => file.reportsList),
    ),
    show: command("Show what happened to a report, from its claim to the providers' ids", () =>
      reports().then((file) => file.reportsShow),
    ),
    preview: command("Show the messages of a tenant's report, as they were or would be sent", () =>
      import("./commands/reports-preview.ts").then((file) => file.reportsPreview),
    ),
    prune: command("Remove the content of older weeks' reports for good", () =>
      reports().then((file) => file.reportsPrune),
    ),
  }),
  deliveries: group("Inspect deliveries and resolve unknown ones", {
    list: command("List deliveries, those of the newest week first", () =>
      deliveries().then((file) => file.deliveriesList),
    ),
    show: command("Show one delivery and how it was reconciled", () =>
      deliveries().then((file) => file.deliveriesShow),
    ),
    "look-up": command("Ask the provider for evidence about unknown deliveries", () =>
      import("./commands/deliveries-look-up.ts").then((file) => file.deliveriesLookUp),
    ),
    reconcile: command("Settle an unknown delivery manually, with a reason that is kept", () =>
      deliveries().then((file) => file.deliveriesReconcile),
    ),
    repair: command("Write the timeline entries that sent deliveries lack", () =>
      deliveries().then((file) => file.deliveriesRepair),
    ),
  }),
  "alert-rules": group("Manage Grafana alert rules as code", {
    export: command("Print the alert rules as a JSON array", () =>
      rules().then((file) => file.alertRulesExport),
    ),
    plan: command("Show what `apply` would change in Grafana; change nothing", () =>
      rules().then((file) => file.alertRulesPlan),
    ),
    apply: command("Create or update the alert rules in Grafana; delete nothing", () =>
      rules().then((file) => file.alertRulesApply),
    ),
    "contact-point": group("Manage the webhook's contact point in Grafana", {
      apply: command("Create or update the webhook's contact point in Grafana", () =>
        rules().then((file) => file.alertRulesContactPointApply),
      ),
    }),
    dashboard: command("Print the Grafana dashboard of host, alerts and weekly run as JSON", () =>
      rules().then((file) => file.alertRulesDashboard),
    ),
  }),
  secret: group("Manage secrets", {
    set: command("Put a secret where the commands that need it find it", () =>
      secret().then((file) => file.secretSet),
    ),
    list: command("List the secrets: where each is, how old, and which command needs it", () =>
      secret().then((file) => file.secretList),
    ),
  }),
  status: command("Show every part of opsctl on this host, and what comes next", () =>
    import("./commands/host/status.ts").then((file) => file.status),
  ),
  doctor: command("Check what the commands need on this host; change nothing", () =>
    import("./commands/host/doctor.ts").then((file) => file.doctor),
  ),
  explain: command("Explain a code, and what to do", () =>
    import("./commands/static/explain.ts").then((file) => file.explain),
  ),
  help: command("Show the help of a command, or all commands", () =>
    import("./commands/static/help.ts").then((file) => file.help),
  ),
  version: command("Show version and commit", () =>
    import("./commands/static/version.ts").then((file) => file.version),
  ),
  completion: command("Print the completion script for bash, zsh or fish", () =>
    import("./commands/static/completion.ts").then((file) => file.completion),
  ),
});
