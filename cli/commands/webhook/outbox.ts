/**
 * `opsctl webhook queue list|drop`: what waits to be delivered. `opsctl webhook dead list|retry|drop`: what could not be
 * delivered in time, and what a service may have taken. The service may be running.
 *
 * Writes: `drop` removes rows, and a waiting issue gives its claim back; `retry` makes dead rows due again.
 * JSON:   queue list: `queued` (each `id`, `kind`: message, issue or comment, `digest`: the row whose text has it too or
 *         null, `alertname`, `fingerprint`, `squad`, `severity`, `attempts`, `code` of the last attempt or null,
 *         `acceptedAt`, `nextAttemptAt`: null for one that was never tried; UTC), `counts`: how many wait of each kind.
 *         dead list: `dead` (each `id`, `kind`, `status`: dead or in_doubt, `digest`, `alertname`, `fingerprint`,
 *         `squad`, `attempts`, `code`, `acceptedAt`, `diedAt`). The others: `count`.
 */
import { OpsError } from "../../../lib/platform/errors.ts";
import type { State } from "../../../lib/webhook/state/contract.ts";
import { aPositiveInteger } from "../../args/checks.ts";
import { flag, option } from "../../args/options.ts";
import { defineCommand } from "../../framework/command.ts";
import { withState } from "../../wiring/webhook/state.ts";

const QUEUE = "opsctl webhook queue";
const DEAD = "opsctl webhook dead";
const NOTES = "Shows names and codes, never an alert's text.";

/** The command `webhook queue list`; see the head of this file. */
export const webhookQueueList = defineCommand({
  account: "service",
  notes: NOTES,
  args: { limit: option("n", "How many rows to show at most", { default: "100", check: aPositiveInteger }) },
  example: "opsctl webhook queue list --limit 20",

  run: (args, context) =>
    withState(context, QUEUE, async (state) => {
      const { renderQueued } = await import("../../../lib/webhook/render-queued.ts");
      const queued = await state.listQueued(Number(args.limit));
      const { message, issue, comment } = await state.stats();
      const counts = { message: message.queued, issue: issue.queued, comment: comment.queued };
      return { fields: { queued, counts }, text: (screen) => renderQueued(queued, counts, screen) };
    }),
});

/** The command `webhook queue drop`; see the head of this file. */
export const webhookQueueDrop = rowsCommand({
  name: QUEUE,
  all: "Everything that waits",
  notes:
    "A row that is being sent may still arrive. If you drop an issue, the alert's next firing creates a new one.",
  example: "opsctl webhook queue drop --row 17",
  change: (state, rows) => state.dropQueued(rows),
  changed: "removed",
  notFound: {
    code: "QUEUED_ROW_NOT_FOUND",
    why: "it is not among what waits",
    hint: "It may have been delivered meanwhile; see opsctl webhook queue list",
  },
});

/** The command `webhook dead list`; see the head of this file. */
export const webhookDeadList = defineCommand({
  account: "service",
  notes: NOTES,
  args: {},
  example: "opsctl webhook dead list",

  run: (_args, context) =>
    withState(context, DEAD, async (state) => {
      const { renderDead } = await import("../../../lib/webhook/render-dead.ts");
      const dead = await state.listDead();
      return { fields: { dead }, text: (screen) => renderDead(dead, screen) };
    }),
});

const OF_DEAD = {
  name: DEAD,
  all: "All of them",
  notFound: {
    code: "DEAD_ROW_NOT_FOUND",
    why: "it is neither undelivered nor of unknown result",
    hint: "See opsctl webhook dead list",
  },
};

/** The command `webhook dead retry`; see the head of this file. */
export const webhookDeadRetry = rowsCommand({
  ...OF_DEAD,
  example: "opsctl webhook dead retry --all",
  change: (state, rows) => state.retryDead(rows),
  changed: "will be tried again",
});

/** The command `webhook dead drop`; see the head of this file. */
export const webhookDeadDrop = rowsCommand({
  ...OF_DEAD,
  example: "opsctl webhook dead drop --row 17",
  change: (state, rows) => state.dropDead(rows),
  changed: "removed",
});

/** A command that changes one row or all rows; `rows` is null for all. */
function rowsCommand(parts: {
  name: string;
  all: string;
  notes?: string;
  example: string;
  change: (state: State, rows: number[] | null) => Promise<number>;
  changed: string;
  notFound: { code: string; why: string; hint: string };
}) {
  const { name, all, notes, example, change, changed, notFound } = parts;
  const list = `\`${name.replace("opsctl webhook ", "")} list\``;
  return defineCommand({
    account: "service",
    ...(notes === undefined ? {} : { notes }),
    args: {
      row: option("id", `The row, as ${list} shows it`, { check: aPositiveInteger }),
      all: flag(all),
    },
    checkTogether: (given) =>
      given.has("row") === given.has("all") ? "either --row or --all is needed" : undefined,
    example,

    run: ({ row }, context) =>
      withState(context, name, async (state) => {
        const count = await change(state, row === undefined ? null : [Number(row)]);
        const { code, why, hint } = notFound;
        if (row !== undefined && count === 0)
          throw new OpsError({ code, message: `Cannot find row ${row}: ${why}`, hint });
        return { fields: { count }, text: `${count === 1 ? "1 row" : `${count} rows`} ${changed}\n` };
      }),
  });
}
