/**
 * `opsctl alert-rules export|plan|apply`: the alert rules as code, against the platform's provisioning API.
 *
 * Reads:  the platform's folder, its alert rules, the names of its contact points when a receiver is given and, for
 *         `plan`, the interval of the groups; `export` nothing.
 * Writes: `apply` alone: one rule for each that differs, by its uid; it deletes nothing and leaves groups alone. Both,
 *         `plan` and `apply`, leave what they found in `{OPSCTL_LOG_DIR}/alert-rules.last.json`, for `opsctl status`.
 * Calls:  the platform, never from `export`.
 * Env:    MONITORING_URL, MONITORING_TOKEN (`plan`, `apply`), MONITORING_FOLDER_UID, MONITORING_PROMETHEUS_UID,
 *         MONITORING_LOKI_UID, MONITORING_RECEIVER, MONITORING_FALLBACK_RECEIVER, OPSCTL_LOG_DIR.
 * Exits:  0 done, 1 the platform failed, a rule is not in place, or `plan --check` found a difference, 2 usage,
 *         3 settings missing or invalid.
 *
 * JSON:   `command`, `status`, `exitCode`, `error`, and
 *         export: `rules`, each as the platform takes it
 *         plan:   `changed` (how many rules differ), `warnings`, `rules` (each `uid`, `title`, `group`,
 *                 `action`: create, update, none or conflict, `changes` of `path`, `from`, `to`, `conflictsWith`)
 *         apply:  `warnings`, `rules` (each `uid`, `title`, `group`, `result`: created, updated, unchanged, conflict or
 *                 failed, `code`, `message`)
 */
import type { LastPlan } from "../../../lib/alert-rules/last-plan.ts";
import { isPlatformUid } from "../../../lib/alert-rules/platform-uid.ts";
import { type CommandContext, defineCommand, type ValueCheck } from "../../framework/command.ts";
import { tellOfOddSettings } from "../../framework/command-settings.ts";
import { EXIT } from "../../framework/exit-status.ts";
import { outcomeOf } from "../../framework/outcome.ts";
import { standardScreen } from "../../framework/streams/screen.ts";

const aPlatformUid: ValueCheck = (value) =>
  isPlatformUid(value) ? undefined : "expects a uid: 1 to 40 letters, digits, - or _";

const uidOption = (description: string) => ({ type: "string", valueHint: "uid", description }) as const;

const ARGS = {
  "with-extras": {
    type: "boolean",
    description: "Also the rules beyond the basic seven: sockets, watchdogs",
  },
  "folder-uid": uidOption("Folder of the rules, instead of MONITORING_FOLDER_UID"),
  "prometheus-uid": uidOption("Metrics data source, instead of MONITORING_PROMETHEUS_UID"),
  "loki-uid": uidOption("Logs data source, instead of MONITORING_LOKI_UID"),
  json: { type: "boolean", description: "Print the result as one line of JSON" },
} as const;

const CHECKS = { "folder-uid": aPlatformUid, "prometheus-uid": aPlatformUid, "loki-uid": aPlatformUid };

const RECEIVER_ARGS = {
  receiver: {
    type: "string",
    valueHint: "name",
    description: "Contact point of the rules, instead of MONITORING_RECEIVER",
  },
  "fallback-receiver": {
    type: "string",
    valueHint: "name",
    description: "Contact point of the rules on the webhook itself",
  },
} as const;

/** The variable that each option overrides. */
const VARIABLES = {
  "folder-uid": "MONITORING_FOLDER_UID",
  "prometheus-uid": "MONITORING_PROMETHEUS_UID",
  "loki-uid": "MONITORING_LOKI_UID",
  receiver: "MONITORING_RECEIVER",
  "fallback-receiver": "MONITORING_FALLBACK_RECEIVER",
} as const;

type Overrides = { [K in keyof typeof VARIABLES]?: string | undefined };

/** The command `alert-rules export`; see the head of this file. */
export const alertRulesExport = defineCommand({
  meta: { name: "export", description: "Print the alert rules as a JSON array" },
  account: "service",
  notes: "Needs no network and no settings; uids that are not given appear as placeholders.",
  args: ARGS,
  checks: CHECKS,
  example: "opsctl alert-rules export --with-extras",

  async run(args, { env }) {
    const { loadExportUids } = await import("../../../lib/alert-rules/config.ts");
    const { alertRules } = await import("../../../lib/alert-rules/rules/all.ts");
    const { ruleDocument } = await import("../../../lib/alert-rules/rule-document.ts");
    const { renderExport } = await import("../../../lib/alert-rules/render.ts");
    const uids = await loadExportUids(withOverrides(env, args));
    const rules = alertRules({ withExtras: args["with-extras"] === true }).map((rule) =>
      ruleDocument(rule, uids),
    );
    return outcomeOf({ command: "alert-rules export", fields: { rules }, text: renderExport(rules) });
  },
});

/** The command `alert-rules plan`; see the head of this file. */
export const alertRulesPlan = defineCommand({
  meta: { name: "plan", description: "Show what `apply` would change on the platform; change nothing" },
  account: "service",
  args: {
    ...ARGS,
    ...RECEIVER_ARGS,
    check: { type: "boolean", description: "End with 1 when something would change" },
  },
  checks: CHECKS,
  example: "opsctl alert-rules plan --check",

  async run(args, context) {
    await tellOfOddSettings(context.settingsFile, context.log);
    const { config, platform, rules } = await openPlatform(args, context);
    const { planRules } = await import("../../../lib/alert-rules/plan.ts");
    const { groupWarnings } = await import("../../../lib/alert-rules/group-warnings.ts");
    const { renderPlan } = await import("../../../lib/alert-rules/render.ts");
    const { receiverWarnings } = await import("../../../lib/alert-rules/receivers.ts");
    const planned = await planRules(platform, rules, config.uids, config.receivers);
    const warnings = [
      ...receiverWarnings(rules, config.receivers),
      ...(await groupWarnings(platform, rules, config.uids.folder)),
    ];
    const changed = planned.filter(({ action }) => action !== "none").length;
    await remember(context, {
      command: "plan",
      withExtras: args["with-extras"] === true,
      rules: planned.length,
      differ: changed,
    });
    const isFound = args.check === true && changed > 0;
    const shown = planned.map(({ document: _document, ...rule }) => rule);
    const error = isFound
      ? { code: "ALERT_RULES_DIFFER", message: `${changed} alert rules differ from the platform` }
      : null;
    return outcomeOf({
      command: "alert-rules plan",
      exitCode: isFound ? EXIT.failed : EXIT.ok,
      fields: { changed, warnings, rules: shown },
      error,
      text: renderPlan(planned, warnings, await standardScreen(context.env)),
    });
  },
});

/** The command `alert-rules apply`; see the head of this file. */
export const alertRulesApply = defineCommand({
  meta: { name: "apply", description: "Create or update the alert rules on the platform; delete nothing" },
  account: "service",
  notes: "Writes only what differs, so it may run any time, and twice at once. See `plan` first.",
  args: { ...ARGS, ...RECEIVER_ARGS },
  checks: CHECKS,
  example: "opsctl alert-rules apply --with-extras --receiver opsctl-webhook",

  async run(args, context) {
    const { config, platform, rules } = await openPlatform(args, context);
    const { planRules } = await import("../../../lib/alert-rules/plan.ts");
    const { applyRules } = await import("../../../lib/alert-rules/apply.ts");
    const { renderApplied } = await import("../../../lib/alert-rules/render.ts");
    const { receiverWarnings } = await import("../../../lib/alert-rules/receivers.ts");
    const applied = await applyRules(
      platform,
      await planRules(platform, rules, config.uids, config.receivers),
      // The result names each rule; this is for a run that ended before its result.
      ({ uid, result, code }) => context.log.debug("An alert rule was handled", { uid, result, code }),
    );
    const warnings = receiverWarnings(rules, config.receivers);
    const failed = applied.filter(({ code }) => code !== null).length;
    await remember(context, {
      command: "apply",
      withExtras: args["with-extras"] === true,
      rules: applied.length,
      differ: failed,
    });
    const message = `${failed} of ${applied.length} alert rules are not in place`;
    return outcomeOf({
      command: "alert-rules apply",
      exitCode: failed === 0 ? EXIT.ok : EXIT.failed,
      fields: { warnings, rules: applied },
      error: failed === 0 ? null : { code: "ALERT_RULES_NOT_APPLIED", message },
      text: renderApplied(applied, warnings, await standardScreen(context.env)),
    });
  },
});

/** For `opsctl status`; a machine without the log directory needs no record. */
async function remember({ env, log }: CommandContext, found: Omit<LastPlan, "at">): Promise<void> {
  const { logDirectory } = await import("../../../lib/platform/config/settings/log-directory.ts");
  const { LAST_PLAN_FILE, writeLastPlan } = await import("../../../lib/alert-rules/last-plan.ts");
  const logDir = await logDirectory(env);
  const problem =
    logDir === null ? "CONFIG_INVALID" : writeLastPlan(logDir, { ...found, at: new Date().toISOString() });
  if (problem !== null && problem !== "ENOENT")
    log.warn("What was found is not kept for opsctl status", { file: LAST_PLAN_FILE, code: problem });
}

function withOverrides(env: CommandContext["env"], given: Overrides): CommandContext["env"] {
  const options = Object.keys(VARIABLES) as (keyof typeof VARIABLES)[];
  const overrides = options.filter((option) => given[option] !== undefined);
  return { ...env, ...Object.fromEntries(overrides.map((option) => [VARIABLES[option], given[option]])) };
}

async function openPlatform(
  args: Overrides & { "with-extras"?: boolean | undefined },
  { env, log }: CommandContext,
) {
  const { loadAlertRulesConfig } = await import("../../../lib/alert-rules/config.ts");
  const config = await loadAlertRulesConfig(withOverrides(env, args));
  const { alertRules } = await import("../../../lib/alert-rules/rules/all.ts");
  const { openGrafana } = await import("../../wiring/grafana.ts");
  const platform = openGrafana(config, log);
  return { config, platform, rules: alertRules({ withExtras: args["with-extras"] === true }) };
}
