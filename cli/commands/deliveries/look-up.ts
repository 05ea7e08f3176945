/**
 * `opsctl deliveries look-up`: evidence about deliveries in doubt, asked of those who may have sent them.
 *
 * Reads:  the deliveries in doubt, their stored reports, `users.phone`, `messaging_instances`.
 * Writes: nothing; with `--settle`, for each message that was found: the delivery's state `sent`, the record of who
 *         decided it with the evidence as the reason, and the timeline entry of a WhatsApp message. Then, in any case,
 *         what is open in `{OPSCTL_LOG_DIR}/weekly_performance_reports.last.json`, where there is one.
 * Calls:  the messaging gateway (`POST /chat/findMessages`), the e-mail provider (`GET /emails`). Never sends.
 * Env:    DATABASE_URL, APP_BASE_URL, GATEWAY_URL, GATEWAY_ADMIN_KEY, EMAIL_API_URL, EMAIL_READ_API_KEY, else
 *         EMAIL_API_KEY, OPSCTL_LOG_DIR; a channel without its settings could not be asked.
 * Exits:  0 all could be asked, 1 one could not, or there is no such delivery, 2 usage, 3 not ready.
 *
 * JSON:   `command`, `status`, `exitCode`, `counts` (`found`, `settled`, `notFound`, `notUnique`, `couldNotBeAsked`,
 *         `notInDoubt`), `lookUps` (each `id`, `channel`, `week`, `tenantId`, `status`: found, not_found, not_unique,
 *         could_not_be_asked or not_in_doubt, `code`, `providerMessageId`, `sentAt`, `providerStatus`, `state`,
 *         `settled`, `remark`), `error`
 */
import { defineCommand } from "../../framework/command.ts";
import { EXIT } from "../../framework/exit-status.ts";
import { loginName } from "../../framework/login-name.ts";
import { outcomeOf } from "../../framework/outcome.ts";
import { standardScreen } from "../../framework/streams/screen.ts";
import { aUuid } from "../../framework/usage/value-checks.ts";

/** The command; see the head of this file. */
export const deliveriesLookUp = defineCommand({
  meta: { name: "look-up", description: "Ask the provider for evidence about unknown deliveries" },
  account: "service",
  notes:
    "Give either ids or --all. Never sends, and never concludes that something was not sent: not finding it proves nothing.",
  takesMany: true,
  args: {
    "delivery-id": { type: "positional", required: false, description: "Ids of deliveries, UUIDs" },
    all: { type: "boolean", description: "All deliveries in the state unknown" },
    settle: { type: "boolean", description: "Record what was found as sent, with the evidence as reason" },
    actor: { type: "string", valueHint: "name", description: "Who settles (default your login name)" },
    json: { type: "boolean", description: "Print the result as one line of JSON" },
  },
  checks: { "delivery-id": aUuid },
  checkTogether(given) {
    if (given.has("all") === given.has("delivery-id")) return "either ids of deliveries or --all is needed";
    return given.has("actor") && !given.has("settle") ? "option --actor goes with --settle" : undefined;
  },
  example: "opsctl deliveries look-up --all --settle",

  async run(args, context) {
    const interrupt = context.interrupted();
    const { loadLookUpConfig } = await import("../../../lib/deliveries/config.ts");
    const config = await loadLookUpConfig(context.env);
    const { openLookUpDependencies } = await import("../../wiring/ledger/look-up.ts");
    const showProgress = args.json !== true;
    const { close, ...dependencies } = await openLookUpDependencies(config, context, {
      interrupt,
      showProgress,
    });
    try {
      const { lookUpDeliveries } = await import("../../../lib/deliveries/look-up/run.ts");
      const { countLookUps } = await import("../../../lib/deliveries/look-up/look-up.ts");
      const { renderLookUps } = await import("../../../lib/deliveries/look-up/render.ts");
      const ids = args.all ? null : [...new Set(args._.map((id) => id.toLowerCase()))];
      const settleAs = args.settle ? (args.actor ?? loginName()) : null;
      const lookUps = await lookUpDeliveries(dependencies, { ids, settleAs });
      const counts = countLookUps(lookUps);
      const { bringLastRunUpToDate } = await import("../../wiring/ledger/last-run.ts");
      // Also when nothing was left to settle: the command that settled it may have been killed before this.
      if (settleAs !== null) await bringLastRunUpToDate(dependencies.sql, context);
      return outcomeOf({
        command: "deliveries look-up",
        exitCode: counts.couldNotBeAsked > 0 ? EXIT.failed : EXIT.ok,
        fields: { counts, lookUps },
        text: renderLookUps(lookUps, await standardScreen(context.env)),
      });
    } finally {
      await close();
    }
  },
});
