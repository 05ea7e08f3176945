/**
 * `opsctl deliveries list|show|reconcile`: the delivery ledger, and a person's decision about an unknown delivery.
 *
 * Writes: `reconcile` the delivery's final state, the record of who decided it and why and, for a WhatsApp message that
 *         was sent, its timeline entry, in one transaction; then what is open in this host's last-run file.
 * JSON:   list: `deliveries` (each `id`, `week`, `tenantId`, `userId`, `reportId`, `channel`, `state`, `code`,
 *         `attempts`, `maskedHint`, `senderTenantId`, `providerMessageId`, `leaseExpiresAt`, `dispatchedAt`,
 *         `settledAt`, `retryableUntil`: null unless a failed delivery may still be tried again; UTC), `more`, `next` (a
 *         value for `--after`, or null). show: `delivery` (as above), `reconciliations` (each `state`,
 *         `providerMessageId`, `reason`, `actor`, `sessionUser`, `at`), `next` (what to do, a line each).
 *         reconcile: `delivery` with `id`, `state`, `code`.
 */
import { DELIVERY_STATES } from "../../../lib/deliveries/delivery.ts";
import { aPositiveInteger, aUuid } from "../../args/checks.ts";
import { argument, option } from "../../args/options.ts";
import { defineCommand } from "../../framework/command.ts";
import { bringLastRunUpToDate, withLedgerDatabase } from "../../wiring/ledger/database.ts";
import { loginName } from "./login-name.ts";

const NAME = "opsctl deliveries";
const DELIVERY_ID = argument("Id of the delivery, a UUID", { required: true, check: aUuid });

/** The command `deliveries list`; see the head of this file. */
export const deliveriesList = defineCommand({
  account: "service",
  notes: "Shows ids, states and masked recipients; never a number or an address.",
  args: {
    state: { type: "enum", options: [...DELIVERY_STATES], description: "Only deliveries in this state" },
    week: option("YYYY-MM-DD", "Only the week that begins on this Monday", { values: "weeks" }),
    tenant: option("uuid", "Only deliveries of this tenant", { check: aUuid }),
    limit: option("n", "At most this many", { default: "100", check: aPositiveInteger }),
    after: option("uuid", "Continue after this delivery, the last one of an earlier list", { check: aUuid }),
  },
  example: "opsctl deliveries list --state unknown",

  run: (args, context) =>
    withLedgerDatabase(context, NAME, async (sql) => {
      const { listDeliveries } = await import("../../../lib/deliveries/list.ts");
      const { renderDeliveryList } = await import("../../../lib/deliveries/render.ts");
      const { state, week, tenant: tenantId, after } = args;
      const list = await listDeliveries(sql, { state, week, tenantId, after }, Number(args.limit));
      return { fields: list, text: (screen) => renderDeliveryList(list, screen) };
    }),
});

/** The command `deliveries show`; see the head of this file. */
export const deliveriesShow = defineCommand({
  account: "service",
  args: { "delivery-id": DELIVERY_ID },
  example: "opsctl deliveries show 3f2b8c1e-5d47-4a90-9c36-0e1f2a3b4c5d",

  run: (args, context) =>
    withLedgerDatabase(context, NAME, async (sql) => {
      const { showDelivery } = await import("../../../lib/deliveries/show.ts");
      const { renderDelivery } = await import("../../../lib/deliveries/render.ts");
      const details = await showDelivery(sql, args["delivery-id"].toLowerCase());
      return { fields: details, text: (screen) => renderDelivery(details, screen) };
    }),
});

/** The command `deliveries reconcile`; see the head of this file. */
export const deliveriesReconcile = defineCommand({
  account: "service",
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

  run: (args, context) =>
    withLedgerDatabase(context, NAME, async (sql) => {
      const { reconcileDelivery } = await import("../../../lib/deliveries/reconcile.ts");
      const { renderReconciled } = await import("../../../lib/deliveries/render.ts");
      const delivery = await reconcileDelivery(sql, args["delivery-id"].toLowerCase(), {
        to: args.to as "sent" | "failed",
        providerMessageId: args["provider-message-id"] ?? null,
        reason: args.reason,
        actor: args.actor ?? loginName(),
      });
      await bringLastRunUpToDate(sql, context);
      return { fields: { delivery }, text: (screen) => renderReconciled(delivery, screen) };
    }),
});
