/**
 * `opsctl alert-rules dashboard`: the dashboard of host, alerts and weekly run.
 *
 * JSON:   `dashboard`: the object that Grafana imports. Without `--json` standard output is that object alone.
 */
import { defineCommand } from "../../framework/command.ts";

/** The command; see the head of this file. */
export const alertRulesDashboard = defineCommand({
  notes: "Needs no network and no settings. Import it in Grafana, which asks for the two data sources.",
  args: {},
  example: "opsctl alert-rules dashboard >opsctl-dashboard.json",

  async run() {
    const { dashboard } = await import("../../../lib/alert-rules/dashboard/dashboard.ts");
    const document = dashboard();
    return { fields: { dashboard: document }, text: `${JSON.stringify(document, null, 2)}\n` };
  },
});
