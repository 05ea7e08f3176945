import { argument, aUuid, flag, option } from "../args/options.ts";
import { defineCommand } from "../framework/command.ts";
import { EXIT } from "../framework/exit-status.ts";
import { loginName } from "./deliveries.ts";

/**
 * `opsctl deliveries look-up`: evidence about unknown deliveries, from the services that may have sent them.
 *
 * Behaviour: asks the messaging gateway and the e-mail provider, and never sends; a channel without its settings could
 *            not be asked. Writes only with `--settle`, as `deliveries reconcile` does.
 */
export const deliveriesLookUp = defineCommand({
  notes:
    "Give either ids or --all. Never sends, and never concludes that something was not sent: not finding it proves nothing.",
  isVariadic: true,
  args: {
    "delivery-id": argument("Ids of deliveries, UUIDs", { required: false, check: aUuid }),
    all: flag("All deliveries in the state unknown"),
    settle: flag("Record what was found as sent, with the evidence as reason"),
    actor: option("name", "Who settles (default your login name)"),
  },
  checkTogether(given) {
    if (given.has("all") === given.has("delivery-id")) return "either ids of deliveries or --all is needed";
    return given.has("actor") && !given.has("settle") ? "option --actor goes with --settle" : undefined;
  },
  example: "opsctl deliveries look-up --all --settle",

  async run(args, context) {
    const interrupt = context.interrupted();
    const { loadLookUpConfig } = await import("../../lib/deliveries/config.ts");
    const config = await loadLookUpConfig(context.env);
    const { openLookUpDependencies } = await import("../wiring/ledger/look-up.ts");
    const { close, ...dependencies } = await openLookUpDependencies(config, context, interrupt);
    try {
      const { lookUpDeliveries } = await import("../../lib/deliveries/look-up/run.ts");
      const { countLookUps } = await import("../../lib/deliveries/look-up/look-up.ts");
      const { renderLookUps } = await import("../../lib/deliveries/look-up/render.ts");
      const ids = args.all ? null : [...new Set(args._.map((id) => id.toLowerCase()))];
      const settleAs = args.settle ? (args.actor ?? loginName()) : null;
      const lookUps = await lookUpDeliveries(dependencies, { ids, settleAs });
      const counts = countLookUps(lookUps);
      const { bringLastRunUpToDate } = await import("../wiring/ledger/database.ts");
      // Also when nothing was left to settle: the command that settled it may have been killed before this.
      if (settleAs !== null) await bringLastRunUpToDate(dependencies.sql, context);
      return {
        exitCode: counts.couldNotBeAsked > 0 ? EXIT.failed : EXIT.ok,
        fields: { counts, lookUps },
        text: (screen) => renderLookUps(lookUps, screen),
      };
    } finally {
      await close();
    }
  },
});
