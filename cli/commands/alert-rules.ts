import type { LastPlan } from "../../lib/alert-rules/last-plan.ts";
import { GRAFANA_UID, isGrafanaUid } from "../../lib/platform/grafana-uid.ts";
import { aWebUrl, flag, option } from "../args/options.ts";
import { type CommandContext, defineCommand } from "../framework/command.ts";
import { EXIT } from "../framework/exit-status.ts";

const uidOption = (what: string) =>
  option("uid", what, {
    check: (value) => (isGrafanaUid(value) ? undefined : `expects ${GRAFANA_UID}`),
  });

const ARGS = {
  "with-extras": flag("Also the rules beyond the basic seven: sockets, watchdogs"),
  "folder-uid": uidOption("Folder of the rules, instead of MONITORING_FOLDER_UID"),
  "prometheus-uid": uidOption("Metrics data source, instead of MONITORING_PROMETHEUS_UID"),
  "loki-uid": uidOption("Logs data source, instead of MONITORING_LOKI_UID"),
};

const RECEIVER_ARGS = {
  receiver: option("name", "Contact point of the rules, instead of MONITORING_RECEIVER"),
  "fallback-receiver": option("name", "Contact point of the rules on the webhook itself"),
};

/** The variable that each option overrides. */
const VARIABLES = {
  "folder-uid": "MONITORING_FOLDER_UID",
  "prometheus-uid": "MONITORING_PROMETHEUS_UID",
  "loki-uid": "MONITORING_LOKI_UID",
  receiver: "MONITORING_RECEIVER",
  "fallback-receiver": "MONITORING_FALLBACK_RECEIVER",
} as const;

type Given = { [K in keyof typeof VARIABLES]?: string | undefined } & { "with-extras"?: boolean | undefined };

/** `opsctl alert-rules export`: the rules as Grafana takes them. */
export const alertRulesExport = defineCommand({
  notes: "Needs no network and no settings; uids that are not given appear as placeholders.",
  args: ARGS,
  example: "opsctl alert-rules export --with-extras",

  async run(args, { env }) {
    const { loadExportUids } = await import("../../lib/alert-rules/config.ts");
    const { alertRules } = await import("../../lib/alert-rules/rules/all.ts");
    const { ruleDocument } = await import("../../lib/alert-rules/rule-document.ts");
    const uids = await loadExportUids(withOptions(env, args));
    const chosen = alertRules({ withExtras: args["with-extras"] === true });
    const rules = chosen.map((rule) => ruleDocument(rule, uids));
    return { fields: { rules }, text: `${JSON.stringify(rules, null, 2)}\n` };
  },
});

/** `opsctl alert-rules plan`: what `apply` would change; its result is kept for `opsctl status`. */
export const alertRulesPlan = defineCommand({
  args: { ...ARGS, ...RECEIVER_ARGS, check: flag("End with 1 when something would change") },
  example: "opsctl alert-rules plan --check",

  async run(args, context) {
    await context.warnOfUnknownSettings();
    const { config, grafana, rules, planned, receiverWarnings } = await planOf(args, context);
    const { groupWarnings } = await import("../../lib/alert-rules/plan.ts");
    const { renderPlan } = await import("../../lib/alert-rules/render.ts");
    const warnings = [...receiverWarnings, ...(await groupWarnings(grafana, rules, config.uids.folder))];
    const changed = planned.filter(({ action }) => action !== "none").length;
    await remember(context, "plan", args, { rules: planned.length, differ: changed });
    const isFound = args.check === true && changed > 0;
    const shown = planned.map(({ document: _document, ...rule }) => rule);
    const message = `${changed} alert rules differ from Grafana`;
    return {
      exitCode: isFound ? EXIT.failed : EXIT.ok,
      fields: { changed, warnings, rules: shown },
      error: isFound ? { code: "ALERT_RULES_DIFFER", message } : null,
      text: (screen) => renderPlan(planned, warnings, screen),
    };
  },
});

/** `opsctl alert-rules apply`: writes each rule that differs, deletes nothing, and leaves groups alone. */
export const alertRulesApply = defineCommand({
  notes: "Writes only what differs, so it may run any time, and twice at once. See `plan` first.",
  args: { ...ARGS, ...RECEIVER_ARGS },
  example: "opsctl alert-rules apply --with-extras --receiver opsctl-webhook",

  async run(args, context) {
    const { grafana, planned, receiverWarnings: warnings } = await planOf(args, context);
    const { applyRules } = await import("../../lib/alert-rules/apply.ts");
    const { renderApplied } = await import("../../lib/alert-rules/render.ts");
    const applied = await applyRules(grafana, planned);
    const failed = applied.filter(({ code }) => code !== null).length;
    await remember(context, "apply", args, { rules: applied.length, differ: failed });
    const message = `${failed} of ${applied.length} alert rules are not in place`;
    return {
      exitCode: failed === 0 ? EXIT.ok : EXIT.failed,
      fields: { warnings, rules: applied },
      error: failed === 0 ? null : { code: "ALERT_RULES_NOT_APPLIED", message },
      text: (screen) => renderApplied(applied, warnings, screen),
    };
  },
});

/** `opsctl alert-rules contact-point apply`: writes one webhook integration of that name; it deletes nothing. */
export const alertRulesContactPointApply = defineCommand({
  notes:
    "Writes only what differs. Grafana never shows the stored secret: after a change of WEBHOOK_SECRET add --rotate.",
  args: {
    url: option("url", "Where Grafana reaches the webhook: https://<alert host>/webhook", {
      required: true,
      check: aWebUrl,
    }),
    receiver: option("name", "Name of the contact point, instead of MONITORING_RECEIVER"),
    rotate: flag("Write the secret even when nothing differs"),
  },
  example:
    "opsctl alert-rules contact-point apply --receiver opsctl-webhook \\\n" +
    "    --url https://alerts.example.com/webhook",

  async run({ url, receiver, rotate }, { env, log }) {
    const { loadContactPointConfig } = await import("../../lib/alert-rules/config.ts");
    const { grafana, point } = await loadContactPointConfig(env, { url, receiver });
    const { applyPoint } = await import("../../lib/alert-rules/contact-point.ts");
    const { renderPoint } = await import("../../lib/alert-rules/render.ts");
    const { openGrafana } = await import("../wiring/grafana.ts");
    const applied = await applyPoint(openGrafana(grafana, log), point, { isRotation: rotate === true });
    log.info("The contact point was applied", { uid: applied.uid, result: applied.result });
    return { fields: applied, text: (screen) => renderPoint(applied, screen) };
  },
});

/** `opsctl alert-rules dashboard`: the dashboard of host, alerts and weekly run. */
export const alertRulesDashboard = defineCommand({
  notes: "Needs no network and no settings. Import it in Grafana, which asks for the two data sources.",
  args: {},
  example: "opsctl alert-rules dashboard >opsctl-dashboard.json",

  async run() {
    const { dashboard } = await import("../../lib/alert-rules/dashboard/dashboard.ts");
    const document = dashboard();
    return { fields: { dashboard: document }, text: `${JSON.stringify(document, null, 2)}\n` };
  },
});

async function planOf(args: Given, { env, log }: CommandContext) {
  const { loadAlertRulesConfig } = await import("../../lib/alert-rules/config.ts");
  const config = await loadAlertRulesConfig(withOptions(env, args));
  const { alertRules } = await import("../../lib/alert-rules/rules/all.ts");
  const { planRules, receiverWarnings } = await import("../../lib/alert-rules/plan.ts");
  const { openGrafana } = await import("../wiring/grafana.ts");
  const grafana = openGrafana(config, log);
  const rules = alertRules({ withExtras: args["with-extras"] === true });
  const planned = await planRules(grafana, rules, config.uids, config.receivers);
  return { config, grafana, rules, planned, receiverWarnings: receiverWarnings(rules, config.receivers) };
}

function withOptions(env: CommandContext["env"], given: Given): CommandContext["env"] {
  const options = Object.entries(VARIABLES).map(([name, variable]) => [variable, given[name as keyof Given]]);
  return { ...env, ...Object.fromEntries(options.filter(([, value]) => value !== undefined)) };
}

/** Keeps the result for `opsctl status`; a machine without the log directory needs none. */
async function remember(
  { env, log }: CommandContext,
  command: LastPlan["command"],
  args: Given,
  counts: Pick<LastPlan, "rules" | "differ">,
): Promise<void> {
  const { logDirectory } = await import("../../lib/platform/config/directories.ts");
  const { LAST_PLAN_FILE, writeLastPlan } = await import("../../lib/alert-rules/last-plan.ts");
  const logDir = await logDirectory("alert-rules", env);
  const withExtras = args["with-extras"] === true;
  const found = { command, withExtras, ...counts, at: new Date().toISOString() };
  const problem = logDir === null ? "CONFIG_INVALID" : writeLastPlan(logDir, found);
  if (problem !== null && problem !== "ENOENT")
    log.warn("The result was not saved for opsctl status", { file: LAST_PLAN_FILE, code: problem });
}
