import { forbiddenSettings } from "../../alert-rules/contact-point.ts";
import { type RuleReach, ruleReach } from "../../alert-rules/routing.ts";
import { alertRules } from "../../alert-rules/rules/all.ts";
import { type CheckResult, command, fail, notChecked, pass, warn } from "../../health/result.ts";
import type { Settings } from "../../platform/config/load.ts";
import { grafanaClient, type ListedRule } from "../../providers/grafana/client.ts";
import type { ContactPoint, Policy } from "../../providers/grafana/notifications.ts";
import { singleLine } from "../../text/single-line.ts";
import type { Check, CheckContext } from "../context.ts";
import { checkWithSettings, correctSecret } from "./settings.ts";
import { statusCheck } from "./status.ts";

const of = "alert-rules";
const service = "Grafana";
const GRAFANA = { required: ["MONITORING_URL", "MONITORING_TOKEN"] } as const;
type Grafana = Settings<(typeof GRAFANA)["required"][number]>;
const NO_POLICIES: Policy = { receiver: null, matchers: [], goesOn: false, policies: [] };

const OURS = new Map(alertRules({ withExtras: true }).map((rule) => [rule.uid, rule]));
const BASIC = alertRules({ withExtras: false });
const SHOWN_TITLES = 3;

const POINT = command("opsctl alert-rules contact-point apply --url https://<alert host>/webhook");
const APPLY = command(
  "opsctl alert-rules apply --with-extras --receiver <contact point> --fallback-receiver <another contact point>",
  "The rules on the webhook itself need another contact point (the fallback), with an address that is read:",
);
const ROUTE = { ...APPLY, command: `${POINT.command} && ${APPLY.command}` };

/** What the alert rules need in Grafana: to be there and to reach somebody, their folder, their data sources. */
export const RULES_CHECKS: readonly Check[] = [
  checkWithSettings(
    { command: of, service, name: "rules" },
    { ...GRAFANA, optional: ["MONITORING_FOLDER_UID", "MONITORING_RECEIVER"] },
    async (settings, context) => {
      const client = clientOf(settings, context);
      const [listed, points, policies, folder] = await Promise.all([
        client.listRules(),
        client.contactPoints(),
        client.policies(),
        client.folderPath(settings.MONITORING_FOLDER_UID ?? ""),
      ]);
      if (listed.status !== "ok") return [failureOf(listed.problem, "alert rules")];
      if (points.status !== "ok") return [unread(points.problem, "contact points")];
      if (policies.status !== "ok") return [unread(policies.problem, "notification policies")];
      const routing = {
        points: points.value ?? [],
        policies: policies.value ?? NO_POLICIES,
        folderPath: (folder.status === "ok" && folder.value) || "",
      };
      const present = (listed.value ?? []).filter(({ uid }) => OURS.has(uid));
      const routed = present.map((rule) => ({ rule, reach: ruleReach(rule, routing) }));
      return [...reachResults(routed), ...pointResults(settings.MONITORING_RECEIVER, routed, routing.points)];
    },
  ),
  checkWithSettings(
    { command: of, service, name: "folder" },
    { required: [...GRAFANA.required, "MONITORING_FOLDER_UID"] },
    async (settings, context) => {
      const folder = settings.MONITORING_FOLDER_UID;
      const found = await clientOf(settings, context).folderPath(folder);
      if (found.status !== "ok") return [failureOf(found.problem, "folders")];
      if (found.value !== null) return [pass(`folder ${folder} exists`)];
      const { file } = await context.environment(of);
      const fix = `Create it, or correct MONITORING_FOLDER_UID in ${file.path}`;
      return [fail("MONITORING_FOLDER_NOT_FOUND", `Grafana has no folder ${folder}`, fix)];
    },
  ),
  dataSourceCheck("metrics data source", "prometheus", "MONITORING_PROMETHEUS_UID"),
  dataSourceCheck("logs data source", "loki", "MONITORING_LOKI_UID"),
  statusCheck(of),
];

type Routed = { rule: ListedRule; reach: RuleReach };

/** Whether opsctl's rules are in Grafana, and who receives them. */
function reachResults(routed: readonly Routed[]): CheckResult[] {
  if (routed.length === 0)
    return [fail("RULES_MISSING", "none of opsctl's rules is in Grafana, so nothing alerts", APPLY)];
  const missing = BASIC.filter(({ uid }) => !routed.some(({ rule }) => rule.uid === uid));
  const at = (status: RuleReach["status"]) =>
    routed.filter(({ reach }) => reach.status === status).map(({ rule }) => rule);
  const rows: [{ title: string }[], (names: string) => CheckResult][] = [
    [missing, (names) => warn("RULES_MISSING", `not in Grafana: ${names}`, APPLY)],
    [at("no_one"), (names) => fail("RULES_WITHOUT_RECEIVER", `nobody receives ${names}`, ROUTE)],
    [
      at("default_email"),
      (names) => fail("RULES_DEFAULT_EMAIL_ONLY", `only Grafana's default e-mail receives ${names}`, ROUTE),
    ],
    [
      at("unknown"),
      (names) =>
        notChecked("POLICY_UNKNOWN", `a policy that cannot be evaluated here decides about ${names}`),
    ],
    [
      sharedWatchers(routed),
      (names) => warn("RULES_SHARE_RECEIVER", `${names} reach only the receiver of all other rules`, APPLY),
    ],
  ];
  const results = rows.flatMap(([rules, result]) => (rules.length === 0 ? [] : [result(titlesOf(rules))]));
  const names = [...new Set(routed.flatMap(receiversOf))].sort().map(singleLine).join(", ");
  return names === "" ? results : [...results, pass(`${at("reached").length} rules reach ${names}`)];
}

/** The rules on the webhook that only the receivers of the other rules get: they are silent when it matters. */
function sharedWatchers(routed: readonly Routed[]): ListedRule[] {
  const usual = usualReceivers(routed);
  return routed
    .filter((one) => watches(one) && one.reach.status === "reached")
    .filter((one) => receiversOf(one).every((name) => usual.includes(name)))
    .map(({ rule }) => rule);
}

function usualReceivers(routed: readonly Routed[]): string[] {
  return routed.filter((one) => !watches(one)).flatMap(receiversOf);
}

function watches({ rule }: Routed): boolean {
  return OURS.get(rule.uid)?.watchesWebhook === true;
}

function receiversOf({ reach }: Routed): string[] {
  return reach.status === "reached" ? reach.receivers : [];
}

/** The first titles and the number of the others. */
function titlesOf(rules: readonly { title: string }[]): string {
  const shown = rules.slice(0, SHOWN_TITLES).map(({ title }) => singleLine(title));
  const more = rules.length - shown.length;
  return `${shown.join(", ")}${more === 0 ? "" : ` and ${more} more`}`;
}

/** Whether the webhook's own contact points lose or change what they have to deliver: the one that is set, else those that receive rules. */
function pointResults(
  named: string | undefined,
  routed: readonly Routed[],
  points: readonly ContactPoint[],
): CheckResult[] {
  const names = named === undefined ? usualReceivers(routed) : [named];
  const webhooks = points.filter(({ name, type }) => type === "webhook" && names.includes(name));
  const shown = singleLine(named ?? "");
  if (named !== undefined && webhooks.length === 0)
    return [fail("MONITORING_RECEIVER_NOT_FOUND", `Grafana has no webhook named ${shown}`, POINT)];
  // Other integrations of a contact point are somebody else's.
  const ours = webhooks.filter(({ settings }) => /\/webhook\/?(\?|$)/.test(String(settings.url ?? "")));
  const judged = ours.length === 0 && named !== undefined ? webhooks : ours;
  return judged.map((point) => {
    const isOpen = (point.settings.authorization_credentials ?? "") === "";
    const secret = isOpen ? ["settings.authorization_credentials"] : [];
    const wrong = [...forbiddenSettings(point).map(({ path }) => path), ...secret].map(singleLine);
    const name = `contact point ${singleLine(point.name)}`;
    if (wrong.length === 0) return pass(`${name} posts everything, with a secret`);
    return fail("CONTACT_POINT_DIFFERS", `${name} differs: ${wrong.join(", ")}`, POINT);
  });
}

function dataSourceCheck(
  name: string,
  expected: string,
  variable: "MONITORING_PROMETHEUS_UID" | "MONITORING_LOKI_UID",
): Check {
  const wanted = { required: [...GRAFANA.required, variable] } as const;
  return checkWithSettings({ command: of, service, name }, wanted, async (settings, context) => {
    const uid = settings[variable];
    const read = await clientOf(settings, context).dataSourceType(uid);
    if (read.status !== "ok") return [unread(read.problem, "data sources")];
    const fix = `Correct ${variable} in alert-rules.env`;
    if (read.value === null) return [fail("DATA_SOURCE_MISSING", `Grafana has no data source ${uid}`, fix)];
    if (!read.value.includes(expected))
      return [warn("DATA_SOURCE_TYPE_DIFFERS", `data source ${uid} is not of type ${expected}`, fix)];
    return [pass(`data source ${uid} exists`)];
  });
}

function clientOf({ MONITORING_URL: url, MONITORING_TOKEN: token }: Grafana, context: CheckContext) {
  return grafanaClient({ baseUrl: new URL(url), token, timeoutMs: context.dependencies.callLimitMs });
}

type Problem = { code: string; status: number | null };

/** The result where something cannot be read that the rules do not need. */
function unread(problem: Problem, what: string): CheckResult {
  if (problem.status !== 403) return failureOf(problem, what);
  const fix = "The rules do not need it; let the service account read it, or look at Grafana's pages";
  return notChecked("TOKEN_LACKS_PERMISSION", `the token may not read ${what}`, fix);
}

function failureOf(problem: Problem, what: string): CheckResult {
  // As `opsctl alert-rules` reports it.
  const code = problem.code.toUpperCase();
  if (problem.status === 401)
    return fail(code, "Grafana rejects the token", correctSecret("MONITORING_TOKEN"));
  const fix = "Give the service account the role Editor, or a finer one";
  if (problem.status === 403) return fail(code, `the token may not read ${what}`, fix);
  return fail(code, "Grafana does not answer as expected", "Check MONITORING_URL and the network");
}
