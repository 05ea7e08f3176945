import type { Group } from "./command.ts";

/** The command tree: names and descriptions at hand for `--help`, the commands themselves imported when called. */
export const root: Group = {
  meta: { name: "opsctl", description: "Weekly performance reports, and what operates them" },
  commands: {
    weekly: {
      meta: { description: "Build and deliver the weekly performance reports" },
      load: () => import("./commands/weekly.ts").then((file) => file.weekly),
    },
    migrate: {
      meta: { description: "Apply opsctl's database migrations" },
      load: () => import("./commands/migrate.ts").then((file) => file.migrate),
    },
    deliveries: {
      meta: {
        name: "deliveries",
        description: "Look into the delivery ledger, and reconcile unknown deliveries",
      },
      commands: {
        list: {
          meta: { description: "List deliveries of a week" },
          load: () => import("./commands/deliveries.ts").then((file) => file.deliveriesList),
        },
        show: {
          meta: { description: "Show one delivery with its history" },
          load: () => import("./commands/deliveries.ts").then((file) => file.deliveriesShow),
        },
        reconcile: {
          meta: { description: "Settle an unknown delivery by hand, with a reason that is kept" },
          load: () => import("./commands/deliveries.ts").then((file) => file.deliveriesReconcile),
        },
      },
    },
  },
};
