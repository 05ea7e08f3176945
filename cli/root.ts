import type { Group } from "./framework/command.ts";

/** The command tree: names and descriptions for `--help`; a command's file is imported only when it is called. */
export const root: Group = {
  meta: {
    name: "opsctl",
    description: "Weekly reports for tenant owners, and the alarm of the host they run on",
  },
  commands: {
    weekly: {
      meta: { description: "Build and deliver the weekly performance reports" },
      load: () => import("./commands/weekly.ts").then((file) => file.weekly),
    },
    webhook: {
      meta: { name: "webhook", description: "Turn the platform's alerts into WhatsApp messages and issues" },
      commands: {
        serve: {
          meta: { description: "Serve the alert webhook until a signal ends it" },
          outlivesHangups: true,
          load: () => import("./commands/webhook/serve.ts").then((file) => file.webhookServe),
        },
        test: {
          meta: { description: "Send one labelled test alert through a running service" },
          load: () => import("./commands/webhook/test.ts").then((file) => file.webhookTest),
        },
        queue: {
          meta: { name: "queue", description: "See or remove what waits to be delivered" },
          commands: {
            list: {
              meta: { description: "List what waits, in the order in which it goes out" },
              load: () => import("./commands/webhook/queue.ts").then((file) => file.webhookQueueList),
            },
            drop: {
              meta: { description: "Remove waiting rows for good: they are not sent" },
              load: () => import("./commands/webhook/queue.ts").then((file) => file.webhookQueueDrop),
            },
          },
        },
        dead: {
          meta: { name: "dead", description: "See, revive or remove what could not be delivered in time" },
          commands: {
            list: {
              meta: { description: "List what was given up or is in doubt" },
              load: () => import("./commands/webhook/dead.ts").then((file) => file.webhookDeadList),
            },
            retry: {
              meta: { description: "Try to deliver dead rows again" },
              load: () => import("./commands/webhook/dead.ts").then((file) => file.webhookDeadRetry),
            },
            drop: {
              meta: { description: "Remove dead rows for good" },
              load: () => import("./commands/webhook/dead.ts").then((file) => file.webhookDeadDrop),
            },
          },
        },
      },
    },
    "collect-metrics": {
      meta: { description: "Write the host's metrics for the monitoring agent" },
      load: () => import("./commands/host/collect-metrics.ts").then((file) => file.collectMetrics),
    },
    "socket-monitor": {
      meta: { description: "Alert by WhatsApp when the host has too many TCP sockets" },
      load: () => import("./commands/host/socket-monitor.ts").then((file) => file.socketMonitor),
    },
    migrate: {
      meta: { description: "Apply opsctl's database migrations" },
      load: () => import("./commands/migrate.ts").then((file) => file.migrate),
    },
    reports: {
      meta: { name: "reports", description: "See what became of a week's reports, and what they say" },
      commands: {
        status: {
          meta: { description: "Show a week in one screen: what is done, what is open, what comes next" },
          load: () => import("./commands/reports/reports.ts").then((file) => file.reportsStatus),
        },
        list: {
          meta: { description: "List the owners of a week, with report, deliveries and missing data" },
          load: () => import("./commands/reports/reports.ts").then((file) => file.reportsList),
        },
        show: {
          meta: { description: "Tell what happened to a report, from its claim to the providers' ids" },
          load: () => import("./commands/reports/reports.ts").then((file) => file.reportsShow),
        },
        preview: {
          meta: { description: "Show the messages of a tenant's report, as they were or would be sent" },
          load: () => import("./commands/reports/preview.ts").then((file) => file.reportsPreview),
        },
        prune: {
          meta: { description: "Remove the content of older weeks' reports for good" },
          load: () => import("./commands/reports/prune.ts").then((file) => file.reportsPrune),
        },
      },
    },
    deliveries: {
      meta: {
        name: "deliveries",
        description: "Look into the delivery ledger, settle what is in doubt",
      },
      commands: {
        list: {
          meta: { description: "List deliveries, those of the newest week first" },
          load: () => import("./commands/deliveries/deliveries.ts").then((file) => file.deliveriesList),
        },
        show: {
          meta: { description: "Show one delivery with its history" },
          load: () => import("./commands/deliveries/deliveries.ts").then((file) => file.deliveriesShow),
        },
        "look-up": {
          meta: { description: "Ask the provider for evidence about unknown deliveries" },
          load: () => import("./commands/deliveries/look-up.ts").then((file) => file.deliveriesLookUp),
        },
        reconcile: {
          meta: { description: "Settle an unknown delivery by hand, with a reason that is kept" },
          load: () => import("./commands/deliveries/deliveries.ts").then((file) => file.deliveriesReconcile),
        },
        repair: {
          meta: { description: "Write the timeline entries that sent deliveries lack" },
          load: () => import("./commands/deliveries/repair.ts").then((file) => file.deliveriesRepair),
        },
      },
    },
    "alert-rules": {
      meta: {
        name: "alert-rules",
        description: "Keep the alert rules on the platform as they are in the code",
      },
      commands: {
        export: {
          meta: { description: "Print the alert rules as a JSON array" },
          load: () => import("./commands/alert-rules/rules.ts").then((file) => file.alertRulesExport),
        },
        plan: {
          meta: { description: "Show what `apply` would change on the platform" },
          load: () => import("./commands/alert-rules/rules.ts").then((file) => file.alertRulesPlan),
        },
        apply: {
          meta: { description: "Create or update the alert rules on the platform" },
          load: () => import("./commands/alert-rules/rules.ts").then((file) => file.alertRulesApply),
        },
        "contact-point": {
          meta: { name: "contact-point", description: "Keep the way from the platform to the webhook" },
          commands: {
            apply: {
              meta: { description: "Make the webhook's contact point on the platform, or set it right" },
              load: () =>
                import("./commands/alert-rules/contact-point.ts").then(
                  (file) => file.alertRulesContactPointApply,
                ),
            },
          },
        },
        dashboard: {
          meta: { description: "Print the platform's dashboard of host, alarm and weekly run as JSON" },
          load: () => import("./commands/alert-rules/dashboard.ts").then((file) => file.alertRulesDashboard),
        },
      },
    },
    secret: {
      meta: { name: "secret", description: "Put secrets where the commands find them, see which are there" },
      commands: {
        set: {
          meta: { description: "Put a secret where the commands that need it find it" },
          load: () => import("./commands/secret/set.ts").then((file) => file.secretSet),
        },
        list: {
          meta: { description: "List the secrets: where each is, how old, and which command needs it" },
          load: () => import("./commands/secret/list.ts").then((file) => file.secretList),
        },
      },
    },
    status: {
      meta: { description: "Show every part of opsctl on this host, and what comes next" },
      load: () => import("./commands/host/status.ts").then((file) => file.status),
    },
    doctor: {
      meta: { description: "Check what the commands need on this host" },
      load: () => import("./commands/host/doctor.ts").then((file) => file.doctor),
    },
    explain: {
      meta: { description: "Tell what a code means, and what to do" },
      load: () => import("./commands/about/explain.ts").then((file) => file.explain),
    },
    help: {
      meta: { description: "Show the help of a command, or all commands" },
      load: () => import("./commands/about/help.ts").then((file) => file.help),
    },
    version: {
      meta: { description: "Show version and commit" },
      load: () => import("./commands/about/version.ts").then((file) => file.version),
    },
    completion: {
      meta: { description: "Print the completion for bash, zsh or fish" },
      load: () => import("./commands/about/completion.ts").then((file) => file.completion),
    },
  },
};
