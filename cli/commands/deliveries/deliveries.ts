/**
 * `opsctl deliveries list|show|reconcile`: the delivery ledger, and a person's way out of `unknown`.
 *
 * Reads:  `weekly_performance_deliveries`, `weekly_performance_reports`, `weekly_performance_reconciliations`.
 * Writes: `reconcile` alone: the delivery's final state, the record of who decided it and why and, for a WhatsApp
 *         message that was sent, its timeline entry; one transaction in the database's function. Then what is open in
 *         `{OPSCTL_LOG_DIR}/weekly_performance_reports.last.json`, where there is one.
 * Calls:  nothing but the database.
 * Env:    DATABASE_URL, OPSCTL_LOG_DIR.
 * Exits:  0 done, 1 no such delivery or not reconcilable, 2 usage and a reason that names a recipient, 3 not ready.
 *
 * JSON:   `command`, `status`, `exitCode`, `error`, and
 *         list:      `deliveries` (each `id`, `week`, `tenantId`, `userId`, `reportId`, `channel`, `state`, `code`,
 *                    `attempts`, `maskedHint`, `senderTenantId`, `providerMessageId`, `leaseExpiresAt`,
 *                    `dispatchedAt`, `settledAt`, `retryableUntil`), `more`, `next` (a value for `--after`, or null)
 *         show:      `delivery` (as above), `reconciliations` (each `state`, `providerMessageId`, `reason`, `actor`,
 *                    `sessionUser`, `at`), `next` (what to do, a line each)
 *         reconcile: `delivery` with `id`, `state`, `code`
 *         Instants are UTC; `retryableUntil` is null unless a failed delivery may still be tried again.
 */
import { DELIVERY_STATES } from "../../../lib/deliveries/delivery.ts";
import { defineCommand } from "../../framework/command.ts";
import { loginName } from "../../framework/login-name.ts";
import { outcomeOf } from "../../framework/outcome.ts";
import { standardScreen } from "../../framework/streams/screen.ts";
import { aPositiveInteger, aUuid } from "../../framework/usage/value-checks.ts";
import { withLedgerDatabase } from "../../wiring/ledger/database.ts";

const APPLICATION_NAME = "opsctl deliveries";

const json = { type: "boolean", description: "Print the result as one line of JSON" } as const;
const deliveryId = {
  type: "positional",
  required: true,
  description: "Id of the delivery, a UUID",
} as const;

/** The command `deliveries list`; see the head of this file. */
export const deliveriesList = defineCommand({
  meta: { name: "list", description: "List deliveries, those of the newest week first" },
  account: "service",
  notes: "Shows ids, states and masked recipients; never a number or an address.",
  args: {
    state: { type: "enum", options: [...DELIVERY_STATES], description: "Only deliveries in this state" },
    week: {
      type: "string",
      valueHint: "YYYY-MM-DD",
      description: "Only the week that begins on this Monday",
    },
    tenant: { type: "string", valueHint: "uuid", description: "Only deliveries of this tenant" },
    limit: { type: "string", valueHint: "n", default: "100", description: "At most this many" },
    after: {
      type: "string",
      valueHint: "uuid",
      description: "Go on behind this delivery, the last one of an earlier list",
    },
    json,
  },
  checks: { tenant: aUuid, limit: aPositiveInteger, after: aUuid },
  values: { week: "weeks" },
  example: "opsctl deliveries list --state unknown",

  run: (args, context) =>
    withLedgerDatabase(context, APPLICATION_NAME, async (sql) => {
      const { listDeliveries } = await import("../../../lib/deliveries/list.ts");
      const { renderDeliveryList } = await import("../../../lib/deliveries/render.ts");
      const { state, week, tenant: tenantId, after } = args;
      const list = await listDeliveries(sql, { state, week, tenantId, after }, Number(args.limit));
      const text = renderDeliveryList(list, await standardScreen(context.env));
      return outcomeOf({ command: "deliveries list", fields: list, text });
    }),
});

/** The command `deliveries show`; see the head of this file. */
export const deliveriesShow = defineCommand({
  meta: { name: "show", description: "Show one delivery and how it was reconciled" },
  account: "service",
  args: { "delivery-id": deliveryId, json },
  checks: { "delivery-id": aUuid },
  example: "opsctl deliveries show 3f2b8c1e-5d47-4a90-9c36-0e1f2a3b4c5d",

  run: (args, context) =>
    withLedgerDatabase(context, APPLICATION_NAME, async (sql) => {
      const { showDelivery } = await import("../../../lib/deliveries/show.ts");
      const { renderDelivery } = await import("../../../lib/deliveries/render.ts");
      const details = await showDelivery(sql, args["delivery-id"].toLowerCase());
      const text = renderDelivery(details, await standardScreen(context.env));
      return outcomeOf({ command: "deliveries show", fields: details, text });
    }),
});

/** The command `deliveries reconcile`; see the head of this file. */
export const deliveriesReconcile = defineCommand({
  meta: { name: "reconcile", description: "Settle an unknown delivery after looking it up at the provider" },
  account: "service",
  notes: "Look the message up at the provider first: this is final. Reason and actor are kept for good.",
  args: {
    "delivery-id": deliveryId,
    to: { type: "enum", options: ["sent", "failed"], required: true, description: "What really happened" },
    "provider-message-id": {
      type: "string",
      valueHint: "id",
      description: "The provider's id of the message, needed for --to sent; no phone shows it",
    },
    reason: { type: "string", valueHint: "text", required: true, description: "How you know" },
    actor: { type: "string", valueHint: "name", description: "Who decides (default your login name)" },
    json,
  },
  checks: { "delivery-id": aUuid },
  checkTogether(given) {
    const [isSent, hasId] = [given.get("to") === "sent", given.has("provider-message-id")];
    if (isSent === hasId) return undefined;
    if (hasId) return "option --provider-message-id goes with --to sent only";
    return (
      "option --to sent needs --provider-message-id: the id that the provider has given the message, which no phone " +
      `shows. To find it: opsctl deliveries look-up ${given.get("delivery-id")}. Without it leave the delivery as it ` +
      "is: unknown is never sent again"
    );
  },
  example:
    "opsctl deliveries reconcile 3f2b8c1e-5d47-4a90-9c36-0e1f2a3b4c5d \\\n" +
    '    --to failed --reason "not in the provider\'s log"',

  run: (args, context) =>
    withLedgerDatabase(context, APPLICATION_NAME, async (sql) => {
      const { reconcileDelivery } = await import("../../../lib/deliveries/reconcile.ts");
      const { renderReconciled } = await import("../../../lib/deliveries/render.ts");
      const delivery = await reconcileDelivery(sql, args["delivery-id"].toLowerCase(), {
        to: args.to as "sent" | "failed",
        providerMessageId: args["provider-message-id"] ?? null,
        reason: args.reason,
        actor: args.actor ?? loginName(),
      });
      const { bringLastRunUpToDate } = await import("../../wiring/ledger/last-run.ts");
      await bringLastRunUpToDate(sql, context);
      const text = renderReconciled(delivery);
      return outcomeOf({ command: "deliveries reconcile", fields: { delivery }, text });
    }),
});
