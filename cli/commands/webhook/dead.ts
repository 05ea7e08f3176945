/**
 * `opsctl webhook dead list|retry|drop`: what was not delivered in time, and what a peer may have taken.
 *
 * Reads:  the outbox of the webhook's state; the service may be running.
 * Writes: `retry` and `drop` alone: the rows become due again, or are removed.
 * Calls:  nothing.
 * Env:    OPSCTL_STATE_DIR, STATE_DIRECTORY, OPSCTL_STATE_URL.
 * Exits:  0 done, 1 no such dead row, 2 usage, 3 the state is not ready.
 *
 * JSON:   `command`, `status`, `exitCode`, `error`, and
 *         list:         `dead` (each `id`, `kind`: message, issue or comment, `status`: dead or in_doubt, `digest`: the
 *                       row whose text tells it too or null, `alertname`, `fingerprint`, `squad`, `attempts`,
 *                       `code`, `acceptedAt`, `diedAt`; instants are UTC)
 *         retry, drop:  `count`
 */
import { OpsError } from "../../../lib/platform/errors.ts";
import { defineCommand } from "../../framework/command.ts";
import { outcomeOf } from "../../framework/outcome.ts";
import { standardScreen } from "../../framework/streams/screen.ts";
import { aPositiveInteger } from "../../framework/usage/value-checks.ts";
import { withState } from "../../wiring/webhook/state.ts";
import { oneOrAll, rowCount, rowsOf } from "./row-options.ts";

const NAME = "opsctl webhook dead";

const json = { type: "boolean", description: "Print the result as one line of JSON" } as const;
const which = {
  row: { type: "string", valueHint: "id", description: "The row, as `dead list` shows it" },
  all: { type: "boolean", description: "All of them" },
  json,
} as const;

/** The command `webhook dead list`; see the head of this file. */
export const webhookDeadList = defineCommand({
  meta: { name: "list", description: "List what was given up or is in doubt, the oldest first" },
  account: "service",
  notes: "Shows names and codes, never an alert's text.",
  args: { json },
  example: "opsctl webhook dead list",

  run: (_args, context) =>
    withState(context, NAME, async (state) => {
      const { renderDead } = await import("../../../lib/webhook/render-dead.ts");
      const dead = await state.listDead();
      const text = renderDead(dead, await standardScreen(context.env));
      return outcomeOf({ command: "webhook dead list", fields: { dead }, text });
    }),
});

/** The command `webhook dead retry`; see the head of this file. */
export const webhookDeadRetry = defineCommand({
  meta: {
    name: "retry",
    description: "Try again to deliver what was given up or is in doubt, for another 24 hours",
  },
  account: "service",
  args: which,
  checks: { row: aPositiveInteger },
  checkTogether: oneOrAll,
  example: "opsctl webhook dead retry --all",

  run: (args, context) =>
    withState(context, NAME, async (state) => {
      const count = await state.retryDead(rowsOf(args.row));
      requireFound(args.row, count);
      const text = `${rowCount(count)} will be tried again\n`;
      return outcomeOf({ command: "webhook dead retry", fields: { count }, text });
    }),
});

/** The command `webhook dead drop`; see the head of this file. */
export const webhookDeadDrop = defineCommand({
  meta: { name: "drop", description: "Remove for good what was given up or is in doubt" },
  account: "service",
  args: which,
  checks: { row: aPositiveInteger },
  checkTogether: oneOrAll,
  example: "opsctl webhook dead drop --row 17",

  run: (args, context) =>
    withState(context, NAME, async (state) => {
      const count = await state.dropDead(rowsOf(args.row));
      requireFound(args.row, count);
      const text = `${rowCount(count)} removed\n`;
      return outcomeOf({ command: "webhook dead drop", fields: { count }, text });
    }),
});

function requireFound(row: string | undefined, count: number): void {
  if (row === undefined || count > 0) return;
  throw new OpsError({
    code: "DEAD_ROW_NOT_FOUND",
    message: `Cannot find row ${row}: it is not among what was given up or is in doubt`,
    hint: "See opsctl webhook dead list",
  });
}
