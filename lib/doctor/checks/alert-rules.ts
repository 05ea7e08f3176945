import type { Routing } from "../../alert-rules/routing.ts";
import type { Settings } from "../../platform/config/load.ts";
import { type GrafanaReading, grafanaClient, type ListedRule } from "../../providers/grafana/client.ts";
import type { Policy } from "../../providers/grafana/notifications.ts";
import type { Check } from "../context/check.ts";
import type { CheckContext } from "../context/check-context.ts";
import { type CheckResult, fail, notChecked, pass, warn } from "../finding.ts";
import { contactPointResults, receiverResults, webhooksOf } from "./rule-receivers.ts";
import { checkWithSettings } from "./settings/configuration.ts";
import { correctSecret, correctSetting } from "./settings/correct-setting.ts";

const command = "alert-rules";
const service = "Grafana";
const GRAFANA = { required: ["MONITORING_URL", "MONITORING_TOKEN"] } as const;
type Grafana = Settings<(typeof GRAFANA)["required"][number]>;
const FOLDER = { required: [...GRAFANA.required, "MONITORING_FOLDER_UID"] } as const;
const NO_POLICIES: Policy = { receiver: null, matchers: [], goesOn: false, policies: [] };

/** What the alert rules need in Grafana: a token, their folder, their data sources, receivers and contact point. */
export const RULES_CHECKS: readonly Check[] = [
  checkWithSettings({ command, service, name: "rules" }, GRAFANA, async (settings, context) => {
    const { listed } = await readingsOf(settings, context);
    if (listed.status === "ok") return [pass("Grafana answers, and the token may read alert rules")];
    return [await failureOf(context, listed.problem, "alert rules")];
  }),
  checkWithSettings({ command, service, name: "folder" }, FOLDER, async (settings, context) => {
    const folder = settings.MONITORING_FOLDER_UID;
    const found = await folderOf(settings, folder, context);
    if (found.status !== "ok") return [await failureOf(context, found.problem, "folders")];
    if (found.value !== null) return [pass(`folder ${folder} exists`)];
    const { file } = await context.environment(command);
    const fix = `Create it, or correct MONITORING_FOLDER_UID in ${file.path}`;
    return [fail("MONITORING_FOLDER_NOT_FOUND", `Grafana has no folder ${folder}`, fix)];
  }),
  dataSourceCheck("metrics data source", "prometheus", "MONITORING_PROMETHEUS_UID"),
  dataSourceCheck("logs data source", "loki", "MONITORING_LOKI_UID"),
  checkWithSettings(
    { command, service, name: "receivers" },
    { ...FOLDER, optional: ["MONITORING_RECEIVER"] },
    async (settings, context) => {
      const { listed, points, policies } = await readingsOf(settings, context);
      const folder = await folderOf(settings, settings.MONITORING_FOLDER_UID, context);
      // The check `rules` says why they cannot be read.
      if (listed.status !== "ok") return [notChecked("PREREQUISITE_FAILED", "the rules cannot be read")];
      if (points.status !== "ok") return [await unread(context, points.problem, "contact points")];
      if (policies.status !== "ok") return [await unread(context, policies.problem, "notification policies")];
      const isReceiverSet = settings.MONITORING_RECEIVER !== undefined;
      return receiverResults(listed.value ?? [], routingOf(points, policies, folder), { isReceiverSet });
    },
  ),
  checkWithSettings(
    { command, service, name: "contact point" },
    { ...GRAFANA, optional: ["MONITORING_RECEIVER", "MONITORING_FOLDER_UID"] },
    async (settings, context) => {
      const { listed, points, policies } = await readingsOf(settings, context);
      const main = settings.MONITORING_RECEIVER;
      if (main === undefined && listed.status !== "ok")
        return [notChecked("PREREQUISITE_FAILED", "the rules cannot be read")];
      if (points.status !== "ok") return [await unread(context, points.problem, "contact points")];
      const found = points.value ?? [];
      if (main !== undefined) return contactPointResults(main, found);
      const folder = await folderOf(settings, settings.MONITORING_FOLDER_UID ?? "", context);
      const rules = (listed.status === "ok" && listed.value) || [];
      const names = webhooksOf(rules, routingOf(points, policies, folder));
      if (names.length > 0) return names.flatMap((name) => contactPointResults(name, found));
      if (policies.status !== "ok") return [await unread(context, policies.problem, "notification policies")];
      return [
        pass("MONITORING_RECEIVER is not set and no rule reaches a webhook, so no contact point was checked"),
      ];
    },
  ),
];

type Readings = {
  listed: GrafanaReading<ListedRule[]>;
  points: GrafanaReading<Routing["points"]>;
  policies: GrafanaReading<Policy>;
};

/** What several checks need of Grafana, read once. */
function readingsOf(settings: Grafana, context: CheckContext): Promise<Readings> {
  return context.once("grafana", async () => {
    const client = clientOf(settings, context);
    const [listed, points, policies] = await Promise.all([
      client.listRules(),
      client.contactPoints(),
      client.policies(),
    ]);
    return { listed, points, policies };
  });
}

function folderOf(settings: Grafana, uid: string, context: CheckContext): Promise<GrafanaReading<string>> {
  return context.once(`grafana folder ${uid}`, () => clientOf(settings, context).folderPath(uid));
}

function routingOf(
  points: Readings["points"],
  policies: Readings["policies"],
  folder: GrafanaReading<string>,
): Routing {
  return {
    points: (points.status === "ok" && points.value) || [],
    policies: (policies.status === "ok" && policies.value) || NO_POLICIES,
    folderPath: (folder.status === "ok" && folder.value) || "",
  };
}

function dataSourceCheck(
  name: string,
  expected: string,
  variable: "MONITORING_PROMETHEUS_UID" | "MONITORING_LOKI_UID",
): Check {
  const wanted = { required: [...GRAFANA.required, variable] } as const;
  return checkWithSettings({ command, service, name }, wanted, async (settings, context) => {
    const uid = settings[variable];
    const read = await clientOf(settings, context).dataSourceType(uid);
    if (read.status !== "ok" && read.problem.status === 403)
      return [
        notChecked(
          "TOKEN_LACKS_PERMISSION",
          "the token may not read data sources, which the rules do not need",
        ),
      ];
    if (read.status !== "ok") return [await failureOf(context, read.problem, "data sources")];
    const fix = await correctSetting(context, command, variable);
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

async function unread(context: CheckContext, problem: Problem, what: string): Promise<CheckResult> {
  if (problem.status !== 403) return await failureOf(context, problem, what);
  return notChecked(
    "TOKEN_LACKS_PERMISSION",
    `the token may not read ${what}, so the receivers of the rules are not known here`,
    "Let the service account read notification settings, or look at a rule's page in Grafana",
  );
}

async function failureOf(context: CheckContext, problem: Problem, what: string): Promise<CheckResult> {
  const { status } = problem;
  // As `opsctl alert-rules` reports it.
  const code = problem.code.toUpperCase();
  if (status === 401) {
    const fix = await correctSecret(context, command, "MONITORING_TOKEN");
    return fail(code, "Grafana rejects the token", fix);
  }
  if (status === 403)
    return fail(
      code,
      `the token may not read ${what}`,
      "Give the service account the role Editor, or a finer one",
    );
  return fail(code, "Grafana does not answer as expected", "Check MONITORING_URL and the network");
}
