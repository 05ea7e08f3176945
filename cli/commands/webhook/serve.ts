/**
 * `opsctl webhook serve`: alerts in, a WhatsApp message for each, an issue for each new one and a comment for its end
 * out.
 *
 * Reads:  `webhook.env` in `OPSCTL_ENV_DIR` and the secrets, at the start and at each SIGHUP; the state: `state.db` in
 *         the state directory, or the schema `opsctl_state` of the shared database.
 * Writes: the state; `dispatcher.lock` beside the file.
 * Calls:  the messaging gateway, the issue tracker, the e-mail provider and the ping where they are set up; systemd's
 *         socket, where that cannot be had `systemd-notify`.
 * Env:    OPSCTL_ENV_DIR, WEBHOOK_SECRET, WEBHOOK_SECRET_PREVIOUS, MESSAGING_API_URL, MESSAGING_API_KEY,
 *         MESSAGING_PHONE, MESSAGING_INSTANCE, ISSUE_TRACKER_URL, ISSUE_TRACKER_TOKEN, ISSUE_TRACKER_TEAM_ID,
 *         ISSUE_TRACKER_COMMENTS, OPSCTL_STATE_DIR, STATE_DIRECTORY, OPSCTL_STATE_URL, ALERT_EMAIL_TO,
 *         ALERT_EMAIL_FROM, ALERT_EMAIL_API_KEY, ALERT_EMAIL_API_URL, OPSCTL_PING_URL; LISTEN_FDS, NOTIFY_SOCKET and
 *         WATCHDOG_USEC as systemd sets them.
 * Exits:  0 after SIGTERM or SIGINT, 1 a fault, 2 usage, 3 configuration, state or port not ready.
 */
import type { Reading } from "../../../lib/webhook/need-restart.ts";
import { defineCommand } from "../../framework/command.ts";
import { tellOfOddSettings } from "../../framework/command-settings.ts";
import { EXIT } from "../../framework/exit-status.ts";
import { aPort, aPositiveInteger, aWholeNumber } from "../../framework/usage/value-checks.ts";

const MIB = 1_048_576;

/** The command; see the head of this file. */
export const webhookServe = defineCommand({
  meta: { name: "serve", description: "Serve the alert webhook until a signal ends it" },
  account: "service",
  isUnattended: true,
  notes:
    "POST /webhook on the public port; on the admin port of 127.0.0.1 the page at /, /healthz, /readyz and /metrics.\n" +
    "Starts and accepts alerts while gateway and tracker are down.\n" +
    "SIGHUP (systemctl reload) reads settings and secrets again; wrong ones are named in the log and change nothing.",
  args: {
    host: { type: "string", valueHint: "address", default: "0.0.0.0", description: "Address to listen on" },
    port: { type: "string", valueHint: "n", default: "9300", description: "Port of POST /webhook" },
    "admin-port": {
      type: "string",
      valueHint: "n",
      default: "9301",
      description: "Port of page, health and metrics on 127.0.0.1; 0 turns it off",
    },
    "messages-per-minute": {
      type: "string",
      valueHint: "n",
      default: "30",
      description: "WhatsApp messages in any minute, up to 10 of them at once",
    },
    "digest-after": {
      type: "string",
      valueHint: "seconds",
      default: "0",
      description: "Tell messages together that would wait longer than this at the pace; 0 never does",
    },
    "issues-per-hour": {
      type: "string",
      valueHint: "n",
      default: "300",
      description: "Issues an hour, after a burst of 100",
    },
    "outbox-rows": {
      type: "string",
      valueHint: "n",
      default: "100000",
      description: "Undelivered messages and issues kept at most; beyond it alerts are answered with 503",
    },
    "outbox-mib": {
      type: "string",
      valueHint: "n",
      default: "1024",
      description: "Mebibytes of undelivered alerts kept at most; for a small disk, or a large one",
    },
  },
  checks: {
    port: aPort,
    "admin-port": aPort,
    "messages-per-minute": aPositiveInteger,
    "digest-after": aWholeNumber,
    "issues-per-hour": aPositiveInteger,
    "outbox-rows": aPositiveInteger,
    "outbox-mib": aPositiveInteger,
  },
  example: "opsctl webhook serve --messages-per-minute 20",

  async run(args, context) {
    // The journal may hang with the disk that an alert is about.
    context.neverWaitForLog();
    const { Reloader } = await import("../../../lib/webhook/reload.ts");
    const reloader = new Reloader<Reading>(context.log);
    context.onHangup(() => reloader.request());
    await tellOfOddSettings(context.settingsFile, context.log);
    const { loadWebhookConfig } = await import("../../../lib/webhook/config.ts");
    const config = await loadWebhookConfig(context.env);
    const { openServeDependencies } = await import("../../wiring/webhook/serve.ts");
    const { serveWebhook } = await import("../../../lib/webhook/serve.ts");
    const limits = { rows: Number(args["outbox-rows"]), bytes: Number(args["outbox-mib"]) * MIB };
    const { dependencies, close } = await openServeDependencies(config, limits, context, reloader);
    try {
      await serveWebhook(dependencies, {
        host: args.host,
        port: Number(args.port),
        adminPort: Number(args["admin-port"]),
        messagesPerMinute: Number(args["messages-per-minute"]),
        digestAfterSeconds: Number(args["digest-after"]),
        issuesPerHour: Number(args["issues-per-hour"]),
      });
    } finally {
      await close();
    }
    return { exitCode: EXIT.ok, result: {}, text: "" };
  },
});
