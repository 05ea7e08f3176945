import { OpsError } from "../../../lib/platform/errors.ts";
import type { State } from "../../../lib/webhook/store/outbox.ts";
import { aPositiveInteger, flag, option } from "../../args/options.ts";
import { defineCommand } from "../../framework/command.ts";
import { withState } from "../../wiring/webhook/state.ts";

const NOTES = "Shows names and codes, never an alert's text.";

/** `opsctl webhook queue list`: the queued rows. The service may be running, as for all commands below. */
export const webhookQueueList = defineCommand({
  notes: NOTES,
  args: { limit: option("n", "How many rows to show at most", { default: "100", check: aPositiveInteger }) },
  example: "opsctl webhook queue list --limit 20",

  run: (args, context) =>
    withState(context, async (state) => {
      const { renderQueued } = await import("../../../lib/webhook/render-rows.ts");
      const queued = await state.listQueued(Number(args.limit));
      const { message, issue, comment } = await state.stats();
      const counts = { message: message.queued, issue: issue.queued, comment: comment.queued };
      return { fields: { queued, counts }, text: (screen) => renderQueued(queued, counts, screen) };
    }),
});

/** `opsctl webhook dead list`: the rows that are dead or unknown. */
export const webhookDeadList = defineCommand({
  notes: NOTES,
  args: {},
  example: "opsctl webhook dead list",

  run: (_args, context) =>
    withState(context, async (state) => {
      const { renderDead } = await import("../../../lib/webhook/render-rows.ts");
      const dead = await state.listDead();
      return { fields: { dead }, text: (screen) => renderDead(dead, screen) };
    }),
});

const OF_QUEUE = {
  list: "queue list",
  all: "All queued rows",
  code: "QUEUED_ROW_NOT_FOUND",
  why: "it is not queued; it may have been delivered",
};

const OF_DEAD = {
  list: "dead list",
  all: "All dead and unknown rows",
  code: "DEAD_ROW_NOT_FOUND",
  why: "it is neither dead nor unknown",
};

/** `opsctl webhook queue drop`: removes queued rows; a queued issue releases its claim. */
export const webhookQueueDrop = rowsCommand(OF_QUEUE, {
  notes:
    "A row that is being sent may still arrive. If you drop an issue, the alert's next firing creates a new one.",
  example: "opsctl webhook queue drop --row 17",
  change: (state, rows) => state.dropQueued(rows),
  changed: "removed",
});

/** `opsctl webhook dead retry`: makes dead rows due again. */
export const webhookDeadRetry = rowsCommand(OF_DEAD, {
  example: "opsctl webhook dead retry --all",
  change: (state, rows) => state.retryDead(rows),
  changed: "will be tried again",
});

/** `opsctl webhook dead drop`: removes dead rows. */
export const webhookDeadDrop = rowsCommand(OF_DEAD, {
  example: "opsctl webhook dead drop --row 17",
  change: (state, rows) => state.dropDead(rows),
  changed: "removed",
});

/** A command that changes one row or all rows; `rows` is null for all. */
function rowsCommand(
  { list, all, code, why }: typeof OF_QUEUE,
  parts: {
    notes?: string;
    example: string;
    change: (state: State, rows: number[] | null) => Promise<number>;
    changed: string;
  },
) {
  const { change, changed, ...help } = parts;
  return defineCommand({
    ...help,
    args: {
      row: option("id", `The row, as \`${list}\` shows it`, { check: aPositiveInteger }),
      all: flag(all),
    },
    checkTogether: (given) =>
      given.has("row") === given.has("all") ? "either --row or --all is needed" : undefined,

    run: ({ row }, context) =>
      withState(context, async (state) => {
        const count = await change(state, row === undefined ? null : [Number(row)]);
        if (row !== undefined && count === 0)
          throw new OpsError({
            ...{ code, message: `Cannot find row ${row}: ${why}`, hint: `See opsctl webhook ${list}` },
          });
        return { fields: { count }, text: `${count === 1 ? "1 row" : `${count} rows`} ${changed}\n` };
      }),
  });
}
