import type { Settings } from "../../platform/config/load.ts";
import { grafanaClient } from "../../providers/grafana/client.ts";
import { readDataSourceType } from "../../providers/grafana/data-source.ts";
import type { Policy } from "../../providers/grafana/policy.ts";
import type { Check } from "../context/check.ts";
import type { CheckContext } from "../context/check-context.ts";
import { fail, notChecked, pass, type Verdict, warn } from "../finding.ts";
import { contactPointVerdicts, namedWebhooks, receiverVerdicts } from "./rule-receivers.ts";
import { checkWithSettings } from "./settings/configuration.ts";
import { correctSecret, correctSetting } from "./settings/correct-setting.ts";

const command = "alert-rules";
const service = "Grafana";
const PLATFORM = { required: ["MONITORING_URL", "MONITORING_TOKEN"] } as const;
type Platform = (typeof PLATFORM)["required"][number];
const FOLDER = { required: [...PLATFORM.required, "MONITORING_FOLDER_UID"] } as const;
const RECEIVER = { optional: ["MONITORING_RECEIVER"] } as const;
const NO_POLICIES: Policy = { receiver: null, matchers: [], goesOn: false, policies: [] };

/**
 * What the alert rules need on the platform: a token that may read them, their folder, their data sources, and a
 * receiver.
 */
export const RULES_CHECKS: readonly Check[] = [
  checkWithSettings({ command, service, name: "rules" }, PLATFORM, async (settings, context) => {
    const listed = await clientOf(context, settings).listRules();
    if (listed.status === "ok") return [pass("the platform answers, and the token may read alert rules")];
    return [await failureOf(context, listed.problem, "alert rules")];
  }),
  checkWithSettings({ command, service, name: "folder" }, FOLDER, async (settings, context) => {
    const folder = settings.MONITORING_FOLDER_UID;
    const found = await clientOf(context, settings).folderPath(folder);
    if (found.status !== "ok") return [await failureOf(context, found.problem, "folders")];
    if (found.value !== null) return [pass(`folder ${folder} exists`)];
    const { file } = await context.environment(command);
    return [
      fail(
        "MONITORING_FOLDER_NOT_FOUND",
        `the platform has no folder ${folder}`,
        `Create it, or correct MONITORING_FOLDER_UID in ${file.path}`,
      ),
    ];
  }),
  dataSourceCheck("metrics data source", "prometheus", "MONITORING_PROMETHEUS_UID"),
  dataSourceCheck("logs data source", "loki", "MONITORING_LOKI_UID"),
  checkWithSettings({ command, service, name: "receivers" }, { ...FOLDER, ...RECEIVER }, receivers),
  checkWithSettings({ command, service, name: "contact point" }, { ...PLATFORM, ...RECEIVER }, contactPoint),
];

async function contactPoint(
  settings: Settings<Platform, "MONITORING_RECEIVER">,
  context: CheckContext,
): Promise<Verdict[]> {
  const client = clientOf(context, settings);
  const main = settings.MONITORING_RECEIVER ?? null;
  const [listed, points] = await Promise.all([client.listRules(), client.contactPoints()]);
  if (main === null && listed.status !== "ok")
    return [notChecked("PREREQUISITE_FAILED", "the rules cannot be read")];
  if (points.status !== "ok") return [await unread(context, points.problem, "contact points")];
  const found = points.value ?? [];
  if (main !== null) return contactPointVerdicts(main, found);
  const names = namedWebhooks((listed.status === "ok" && listed.value) || [], found);
  if (names.length > 0) return names.flatMap((name) => contactPointVerdicts(name, found));
  return [
    pass("MONITORING_RECEIVER is not set and no rule names a webhook, so no contact point was looked at"),
  ];
}

async function receivers(
  settings: Settings<Platform | "MONITORING_FOLDER_UID", "MONITORING_RECEIVER">,
  context: CheckContext,
): Promise<Verdict[]> {
  const client = clientOf(context, settings);
  const [listed, points, policies, folder] = await Promise.all([
    client.listRules(),
    client.contactPoints(),
    client.policies(),
    client.folderPath(settings.MONITORING_FOLDER_UID),
  ]);
  // The check on the rules says what is wrong with a list that cannot be read.
  if (listed.status !== "ok") return [notChecked("PREREQUISITE_FAILED", "the rules cannot be read")];
  if (points.status !== "ok") return [await unread(context, points.problem, "contact points")];
  if (policies.status !== "ok") return [await unread(context, policies.problem, "notification policies")];
  const folderPath = (folder.status === "ok" ? folder.value : null) ?? "";
  const routing = { points: points.value ?? [], policies: policies.value ?? NO_POLICIES, folderPath };
  return receiverVerdicts(listed.value ?? [], routing, {
    isReceiverSet: settings.MONITORING_RECEIVER !== undefined,
  });
}

async function unread(
  context: CheckContext,
  problem: { code: string; status: number | null },
  what: string,
): Promise<Verdict> {
  if (problem.status !== 403) return await failureOf(context, problem, what);
  return notChecked(
    "TOKEN_LACKS_PERMISSION",
    `the token may not read ${what}, so it is not known here whom the rules reach`,
    "Let the service account read notification settings, or look at a rule's page on the platform",
  );
}

function dataSourceCheck(
  name: string,
  expected: string,
  variable: "MONITORING_PROMETHEUS_UID" | "MONITORING_LOKI_UID",
): Check {
  const wanted = { required: [...PLATFORM.required, variable] } as const;
  return checkWithSettings({ command, service, name }, wanted, async (settings, context, signal) => {
    const uid = settings[variable];
    const read = await readDataSourceType({
      baseUrl: new URL(settings.MONITORING_URL),
      token: settings.MONITORING_TOKEN,
      uid,
      timeoutMs: context.dependencies.callLimitMs,
      signal,
    });
    if (read.status !== "ok" && read.problem.status === 403)
      return [
        notChecked(
          "TOKEN_LACKS_PERMISSION",
          "the token may not read data sources, which the rules do not need",
        ),
      ];
    if (read.status !== "ok") return [await failureOf(context, read.problem, "data sources")];
    const fix = await correctSetting(context, command, variable);
    if (read.value === null)
      return [fail("DATA_SOURCE_MISSING", `the platform has no data source ${uid}`, fix)];
    if (!read.value.includes(expected))
      return [warn("DATA_SOURCE_TYPE_DIFFERS", `data source ${uid} is not of type ${expected}`, fix)];
    return [pass(`data source ${uid} exists`)];
  });
}

function clientOf(context: CheckContext, { MONITORING_URL, MONITORING_TOKEN: token }: Settings<Platform>) {
  const timeoutMs = context.dependencies.callLimitMs;
  return grafanaClient({ baseUrl: new URL(MONITORING_URL), token, timeoutMs });
}

async function failureOf(
  context: CheckContext,
  problem: { code: string; status: number | null },
  what: string,
): Promise<Verdict> {
  const { status } = problem;
  // As `opsctl alert-rules` reports it.
  const code = problem.code.toUpperCase();
  if (status === 401)
    return fail(
      code,
      `the platform refuses the token`,
      await correctSecret(context, command, "MONITORING_TOKEN"),
    );
  if (status === 403)
    return fail(
      code,
      `the token may not read ${what}`,
      "Give the service account the role Editor, or a finer one",
    );
  return fail(code, `the platform does not answer as it should`, "Check MONITORING_URL and the network");
}
