import { userInfo } from "node:os";
import process from "node:process";
import { DELIVERY_STATES } from "../../lib/deliveries/delivery.ts";
import { wasRoot } from "../../lib/platform/privileges.ts";
import { aPositiveInteger, argument, aUuid, option } from "../args/options.ts";
import { EXIT } from "../framework/exit-status.ts";
import { bringLastRunUpToDate, ledgerCommand } from "../wiring/ledger/database.ts";

const DELIVERY_ID = argument("Id of the delivery, a UUID", { required: true, check: aUuid });

/** `opsctl deliveries list`: what was sent or should have been, the newest week first. */
export const deliveriesList = ledgerCommand("deliveries", {
  notes: "Shows ids, states and masked recipients; never a number or an address.",
  args: {
    state: { type: "enum", options: [...DELIVERY_STATES], description: "Only deliveries in this state" },
    week: option("YYYY-MM-DD", "Only the week that begins on this Monday", { values: "weeks" }),
    tenant: option("uuid", "Only deliveries of this tenant", { check: aUuid }),
    limit: option("n", "At most this many", { default: "100", check: aPositiveInteger }),
    after: option("uuid", "Continue after this delivery, the last one of an earlier list", { check: aUuid }),
  },
  example: "opsctl deliveries list --state unknown",

  async act(sql, { state, week, tenant: tenantId, after, limit }) {
    const { listDeliveries } = await import("../../lib/deliveries/list.ts");
    const { renderDeliveryList } = await import("../../lib/deliveries/render.ts");
    const list = await listDeliveries(sql, { state, week, tenantId, after }, Number(limit));
    return { fields: list, text: (screen) => renderDeliveryList(list, screen) };
  },
});

/** `opsctl deliveries show`: one delivery, and how it was reconciled. */
export const deliveriesShow = ledgerCommand("deliveries", {
  args: { "delivery-id": DELIVERY_ID },
  example: "opsctl deliveries show 3f2b8c1e-5d47-4a90-9c36-0e1f2a3b4c5d",

  async act(sql, args) {
    const { showDelivery } = await import("../../lib/deliveries/show.ts");
    const { renderDelivery } = await import("../../lib/deliveries/render.ts");
    const details = await showDelivery(sql, args["delivery-id"].toLowerCase());
    return { fields: details, text: (screen) => renderDelivery(details, screen) };
  },
});

/**
 * `opsctl deliveries reconcile`: a person's decision about an unknown delivery.
 *
 * Behaviour: writes the final state, who decided it and why and, for a WhatsApp message that was sent, its timeline entry
 *            in one transaction; then what is open in this host's last-run file.
 */
export const deliveriesReconcile = ledgerCommand("deliveries", {
  notes: "Look the message up at the provider first: this is final. Reason and actor are kept for good.",
  args: {
    "delivery-id": DELIVERY_ID,
    to: { type: "enum", options: ["sent", "failed"], required: true, description: "What really happened" },
    "provider-message-id": option(
      "id",
      "The provider's id of the message, needed for --to sent; no phone shows it",
    ),
    reason: option("text", "How you know", { required: true }),
    actor: option("name", "Who decides (default your login name)"),
  },
  checkTogether(given) {
    const [isSent, hasId] = [given.get("to") === "sent", given.has("provider-message-id")];
    if (isSent === hasId) return undefined;
    if (hasId) return "option --provider-message-id goes with --to sent only";
    return (
      "option --to sent needs --provider-message-id: the id that the provider has given the message, which no phone " +
      "shows. opsctl deliveries look-up finds it. Without it leave the delivery as it is: unknown is never sent again"
    );
  },
  example:
    "opsctl deliveries reconcile 3f2b8c1e-5d47-4a90-9c36-0e1f2a3b4c5d \\\n" +
    '    --to failed --reason "not in the provider\'s log"',

  async act(sql, args, context) {
    const { reconcileDelivery } = await import("../../lib/deliveries/reconcile.ts");
    const { renderReconciled } = await import("../../lib/deliveries/render.ts");
    const delivery = await reconcileDelivery(sql, args["delivery-id"].toLowerCase(), {
      to: args.to as "sent" | "failed",
      providerMessageId: args["provider-message-id"] ?? null,
      reason: args.reason,
      actor: args.actor ?? loginName(),
    });
    await bringLastRunUpToDate(sql, context);
    return { fields: { delivery }, text: (screen) => renderReconciled(delivery, screen) };
  },
});

/**
 * `opsctl deliveries repair`: writes the timeline entries that sent deliveries lack (`partial`), once each, then what is
 * open in this host's last-run file.
 */
export const deliveriesRepair = ledgerCommand("deliveries", {
  notes: "Works on any day and sends nothing.",
  args: {},
  example: "opsctl deliveries repair",

  async act(sql, _args, context) {
    const { repairDeliveries } = await import("../../lib/deliveries/repair.ts");
    const { renderRepair } = await import("../../lib/deliveries/render.ts");
    const repair = await repairDeliveries(sql, { interrupt: context.interrupted() });
    // Also when nothing was left to repair: the command that repaired it may have been killed before this.
    await bringLastRunUpToDate(sql, context);
    const isWhole = repair.failed === 0 && repair.remaining === 0;
    return {
      exitCode: isWhole ? EXIT.ok : EXIT.failed,
      fields: repair,
      text: (screen) => renderRepair(repair, screen),
    };
  },
});

/** The name of the person who started the command, root before it became the account; else the user id. */
export function loginName(): string {
  try {
    return wasRoot() ? "root" : userInfo().username;
  } catch {
    return `uid ${process.getuid?.()}`;
  }
}
