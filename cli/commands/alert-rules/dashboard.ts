/**
 * `opsctl alert-rules dashboard`: the platform's dashboard of host, alarm and weekly run.
 *
 * Reads:  nothing.
 * Writes: nothing.
 * Calls:  nothing.
 * Env:    none.
 * Exits:  0 done, 2 usage.
 *
 * JSON:   `command`, `status`, `exitCode`, `error`, `dashboard`: the object that the platform imports. Without `--json`
 *         standard output is that object alone.
 */
import { defineCommand } from "../../framework/command.ts";
import { outcomeOf } from "../../framework/outcome.ts";

/** The command; see the head of this file. */
export const alertRulesDashboard = defineCommand({
  meta: {
    name: "dashboard",
    description: "Print the platform's dashboard of host, alarm and weekly run as JSON",
  },
  account: "service",
  notes: "Needs no network and no settings. Import it on the platform; it asks for the two data sources.",
  args: { json: { type: "boolean", description: "Print the result as one line of JSON" } },
  example: "opsctl alert-rules dashboard >opsctl-dashboard.json",

  async run() {
    const { dashboard, renderDashboard } = await import("../../../lib/alert-rules/dashboard/dashboard.ts");
    return outcomeOf({
      command: "alert-rules dashboard",
      fields: { dashboard: dashboard() },
      text: renderDashboard(),
    });
  },
});
