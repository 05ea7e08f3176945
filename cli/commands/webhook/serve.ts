import type { Reading } from "../../../lib/webhook/reload.ts";
import { aPositiveInteger, option, wholeNumber } from "../../args/options.ts";
import { defineCommand } from "../../framework/command.ts";

const MIB = 1_048_576;
const aPort = wholeNumber(0, 65_535, "a port, 0 to 65535");

/**
 * `opsctl webhook serve`: alerts in; WhatsApp messages, issues and their comments out.
 *
 * Behaviour: reads `webhook.env` and the secrets at its start and at each SIGHUP. Writes the state, and `dispatcher.lock`
 *            beside its file. Calls gateway, issue tracker, e-mail provider, ping and systemd.
 */
export const webhookServe = defineCommand({
  isUnattended: true,
  isService: true,
  notes:
    "POST /webhook on the public port; on the admin port of 127.0.0.1 the page at /, /healthz, /readyz and /metrics.\n" +
    "Starts and accepts alerts while gateway and tracker are down.\n" +
    "SIGHUP (systemctl reload) reads settings and secrets again; wrong ones are named in the log and change nothing.",
  args: {
    host: option("address", "Address to listen on", { default: "0.0.0.0" }),
    port: option("n", "Port of POST /webhook (default: WEBHOOK_PORT, else 9300)", { check: aPort }),
    "admin-port": option(
      "n",
      "Port of page, health and metrics on 127.0.0.1, 0 turns it off (default: WEBHOOK_ADMIN_PORT, else 9301)",
      { check: aPort },
    ),
    "messages-per-minute": option("n", "WhatsApp messages a minute, after a burst of 10", {
      default: "30",
      check: aPositiveInteger,
    }),
    "digest-after": option(
      "seconds",
      "Combine messages into a digest that would wait longer than this at the rate limit; 0 never does",
      { default: "0", check: wholeNumber(0, 999_999_999, "a whole number") },
    ),
    "issues-per-hour": option("n", "Issues an hour, after a burst of 100", {
      default: "300",
      check: aPositiveInteger,
    }),
    "outbox-rows": option(
      "n",
      "Undelivered messages and issues kept at most; beyond it alerts are answered with 503",
      { default: "100000", check: aPositiveInteger },
    ),
    "outbox-mib": option(
      "n",
      "Mebibytes of undelivered alerts kept at most; for a small disk, or a large one",
      { default: "1024", check: aPositiveInteger },
    ),
  },
  example: "opsctl webhook serve --messages-per-minute 20",

  async run(args, context) {
    const { Reloader } = await import("../../../lib/webhook/reload.ts");
    const reloader = new Reloader<Reading>(context.log);
    context.onHangup(() => reloader.request());
    await context.warnOfUnknownSettings();
    const { loadWebhookConfig } = await import("../../../lib/webhook/config.ts");
    const config = await loadWebhookConfig(context.env);
    const { openServeDependencies } = await import("../../wiring/webhook/serve.ts");
    const { serveWebhook } = await import("../../../lib/webhook/serve.ts");
    const limits = { rows: Number(args["outbox-rows"]), bytes: Number(args["outbox-mib"]) * MIB };
    const { dependencies, close } = await openServeDependencies(config, limits, context, reloader);
    try {
      await serveWebhook(dependencies, {
        host: args.host,
        port: Number(args.port ?? config.port),
        adminPort: Number(args["admin-port"] ?? config.adminPort),
        messagesPerMinute: Number(args["messages-per-minute"]),
        digestAfterSeconds: Number(args["digest-after"]),
        issuesPerHour: Number(args["issues-per-hour"]),
      });
    } finally {
      await close();
    }
    return { fields: {}, text: "" };
  },
});
