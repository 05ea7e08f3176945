/**
 * `opsctl alert-rules export|plan|apply`: the alert rules as code, against Grafana's provisioning API.
 *
 * Writes: `apply` one rule for each that differs, by its uid; it deletes nothing and leaves groups alone. Both, `plan`
 *         and `apply`, write their result to `{OPSCTL_LOG_DIR}/alert-rules.last.json`, for `opsctl status`.
 * JSON:   export: `rules`, each as Grafana takes it. plan: `changed` (how many rules differ), `warnings`, `rules` (each
 *         `uid`, `title`, `group`, `action`: create, update, none or conflict, `changes` of `path`, `from`, `to`,
 *         `conflictsWith`). apply: `warnings`, `rules` (each `uid`, `title`, `group`, `result`: created, updated,
 *         unchanged, conflict or failed, `code`, `message`).
 */
import type { LastPlan } from "../../../lib/alert-rules/last-plan.ts";
import { isGrafanaUid } from "../../../lib/providers/grafana/document.ts";
import { flag, option, type ValueCheck } from "../../args/options.ts";
import { type CommandContext, defineCommand } from "../../framework/command.ts";
import { EXIT } from "../../framework/exit-status.ts";

const aGrafanaUid: ValueCheck = (value) =>
  isGrafanaUid(value) ? undefined : "expects a uid: 1 to 40 letters, digits, - or _";

const uidOption = (what: string) => option("uid", what, { check: aGrafanaUid });

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

/** The command `alert-rules export`; see the head of this file. */
export const alertRulesExport = defineCommand({
  notes: "Needs no network and no settings; uids that are not given appear as placeholders.",
  args: ARGS,
  example: "opsctl alert-rules export --with-extras",

  async run(args, { env }) {
    const { loadExportUids } = await import("../../../lib/alert-rules/config.ts");
    const { alertRules } = await import("../../../lib/alert-rules/rules/all.ts");
    const { ruleDocument } = await import("../../../lib/alert-rules/rule-document.ts");
    const uids = await loadExportUids(withOverrides(env, args));
    const chosen = alertRules({ withExtras: args["with-extras"] === true });
    const rules = chosen.map((rule) => ruleDocument(rule, uids));
    return { fields: { rules }, text: `${JSON.stringify(rules, null, 2)}\n` };
  },
});

/** The command `alert-rules plan`; see the head of this file. */
export const alertRulesPlan = defineCommand({
  args: { ...ARGS, ...RECEIVER_ARGS, check: flag("End with 1 when something would change") },
  example: "opsctl alert-rules plan --check",

  async run(args, context) {
    await context.warnOfUnknownSettings();
    const { config, grafana, rules, receiverWarnings } = await openRules(args, context);
    const { groupWarnings, planRules } = await import("../../../lib/alert-rules/plan.ts");
    const { renderPlan } = await import("../../../lib/alert-rules/render.ts");
    const planned = await planRules(grafana, rules, config.uids, config.receivers);
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

/** The command `alert-rules apply`; see the head of this file. */
export const alertRulesApply = defineCommand({
  notes: "Writes only what differs, so it may run any time, and twice at once. See `plan` first.",
  args: { ...ARGS, ...RECEIVER_ARGS },
  example: "opsctl alert-rules apply --with-extras --receiver opsctl-webhook",

  async run(args, context) {
    const { config, grafana, rules, receiverWarnings: warnings } = await openRules(args, context);
    const { planRules } = await import("../../../lib/alert-rules/plan.ts");
    const { applyRules } = await import("../../../lib/alert-rules/apply.ts");
    const { renderApplied } = await import("../../../lib/alert-rules/render.ts");
    const planned = await planRules(grafana, rules, config.uids, config.receivers);
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

/** For `opsctl status`; a machine without the log directory needs no record. */
async function remember(
  { env, log }: CommandContext,
  command: LastPlan["command"],
  args: Given,
  counts: Pick<LastPlan, "rules" | "differ">,
): Promise<void> {
  const { logDirectory } = await import("../../../lib/platform/config/directories.ts");
  const { LAST_PLAN_FILE, writeLastPlan } = await import("../../../lib/alert-rules/last-plan.ts");
  const logDir = await logDirectory(env);
  const found = {
    command,
    withExtras: args["with-extras"] === true,
    ...counts,
    at: new Date().toISOString(),
  };
  const problem = logDir === null ? "CONFIG_INVALID" : writeLastPlan(logDir, found);
  if (problem !== null && problem !== "ENOENT")
    log.warn("The result was not saved for opsctl status", { file: LAST_PLAN_FILE, code: problem });
}

function withOverrides(env: CommandContext["env"], given: Given): CommandContext["env"] {
  const options = Object.keys(VARIABLES) as (keyof typeof VARIABLES)[];
  const overrides = options.filter((name) => given[name] !== undefined);
  return { ...env, ...Object.fromEntries(overrides.map((name) => [VARIABLES[name], given[name]])) };
}

async function openRules(args: Given, { env, log }: CommandContext) {
  const { loadAlertRulesConfig } = await import("../../../lib/alert-rules/config.ts");
  const config = await loadAlertRulesConfig(withOverrides(env, args));
  const { alertRules } = await import("../../../lib/alert-rules/rules/all.ts");
  const { receiverWarnings } = await import("../../../lib/alert-rules/plan.ts");
  const { openGrafana } = await import("../../wiring/grafana.ts");
  const rules = alertRules({ withExtras: args["with-extras"] === true });
  return {
    config,
    grafana: openGrafana(config, log),
    rules,
    receiverWarnings: receiverWarnings(rules, config.receivers),
  };
}
