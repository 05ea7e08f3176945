/**
 * `opsctl webhook queue list|drop`: what waits to be delivered.
 *
 * Reads:  the outbox of the webhook's state; the service may be running.
 * Writes: `drop` alone: the rows are removed, and an issue gives its claim back.
 * Calls:  nothing.
 * Env:    OPSCTL_STATE_DIR, STATE_DIRECTORY, OPSCTL_STATE_URL.
 * Exits:  0 done, 1 no such waiting row, 2 usage, 3 the state is not ready.
 *
 * JSON:   `command`, `status`, `exitCode`, `error`, and
 *         list:  `queued` (each `id`, `kind`: message, issue or comment, `digest`: the row whose text tells it too or
 *                null, `alertname`, `fingerprint`, `squad`, `severity`, `attempts`, `code` of the last attempt or null,
 *                `acceptedAt`, `nextAttemptAt`: null for one that was never tried; instants are UTC), `counts`: how
 *                many wait of each kind
 *         drop:  `count`
 */
import { OpsError } from "../../../lib/platform/errors.ts";
import { defineCommand } from "../../framework/command.ts";
import { outcomeOf } from "../../framework/outcome.ts";
import { standardScreen } from "../../framework/streams/screen.ts";
import { aPositiveInteger } from "../../framework/usage/value-checks.ts";
import { withState } from "../../wiring/webhook/state.ts";
import { oneOrAll, rowCount, rowsOf } from "./row-options.ts";

const NAME = "opsctl webhook queue";
const json = { type: "boolean", description: "Print the result as one line of JSON" } as const;

/** The command `webhook queue list`; see the head of this file. */
export const webhookQueueList = defineCommand({
  meta: { name: "list", description: "List what waits, in the order in which it goes out" },
  account: "service",
  notes: "Shows names and codes, never an alert's text.",
  args: {
    limit: { type: "string", valueHint: "n", default: "100", description: "How many rows to show at most" },
    json,
  },
  checks: { limit: aPositiveInteger },
  example: "opsctl webhook queue list --limit 20",

  run: (args, context) =>
    withState(context, NAME, async (state) => {
      const { renderQueued } = await import("../../../lib/webhook/render-queued.ts");
      const queued = await state.listQueued(Number(args.limit));
      const { message, issue, comment } = await state.stats();
      const counts = { message: message.queued, issue: issue.queued, comment: comment.queued };
      const fields = { queued, counts };
      const text = renderQueued(queued, counts, await standardScreen(context.env));
      return outcomeOf({ command: "webhook queue list", fields, text });
    }),
});

/** The command `webhook queue drop`; see the head of this file. */
export const webhookQueueDrop = defineCommand({
  meta: { name: "drop", description: "Remove waiting rows for good: they are not sent" },
  account: "service",
  notes:
    "A row that is just being sent may still arrive. The next firing of an alert whose issue was removed makes one.",
  args: {
    row: { type: "string", valueHint: "id", description: "The row, as `queue list` shows it" },
    all: { type: "boolean", description: "Everything that waits" },
    json,
  },
  checks: { row: aPositiveInteger },
  checkTogether: oneOrAll,
  example: "opsctl webhook queue drop --row 17",

  run: (args, context) =>
    withState(context, NAME, async (state) => {
      const count = await state.dropQueued(rowsOf(args.row));
      if (args.row !== undefined && count === 0) throw notFound(args.row);
      const text = `${rowCount(count)} removed\n`;
      return outcomeOf({ command: "webhook queue drop", fields: { count }, text });
    }),
});

function notFound(row: string): OpsError {
  return new OpsError({
    code: "QUEUED_ROW_NOT_FOUND",
    message: `Cannot find row ${row}: it is not among what waits`,
    hint: "It may have been delivered meanwhile; see opsctl webhook queue list",
  });
}
