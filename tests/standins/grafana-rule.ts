/** What Grafana demands of a rule document, and what it makes of one that it keeps. */

/** A JSON object. */
export type Json = Record<string, unknown>;

/** Why Grafana refuses a rule document, or null. */
export function ruleProblem(body: unknown): string | null {
  if (!isObject(body)) return "bad request data";
  return (
    fieldProblem(body) ??
    mapProblem(body, "labels") ??
    mapProblem(body, "annotations") ??
    settingsProblem(body.notification_settings) ??
    dataProblem(body)
  );
}

/** The rule as Grafana answers it: defaults added, durations rewritten, its own keys, another order. */
export function storedRule(body: Json, id: number, provenance: string): Json {
  const data = (body.data as Json[]).map((step) => {
    const model = { intervalMs: 1000, maxDataPoints: 43_200, ...(step.model as Json) };
    return {
      model: reversed(model),
      datasourceUid: step.datasourceUid === "-100" ? "__expr__" : step.datasourceUid,
      relativeTimeRange: step.relativeTimeRange ?? { from: 0, to: 0 },
      queryType: (model as Json).queryType ?? step.queryType ?? "",
      refId: step.refId,
    };
  });
  return {
    id,
    orgID: 1,
    ...reversed({
      isPaused: false,
      keep_firing_for: "0s",
      notification_settings: null,
      record: null,
      ...body,
    }),
    data,
    for: promDuration(String(body.for)),
    updated: new Date().toISOString(),
    provenance,
  };
}

const STATES = {
  noDataState: ["OK", "NoData", "Alerting", "KeepLast"],
  execErrState: ["OK", "Error", "Alerting", "KeepLast"],
};

function fieldProblem(body: Json): string | null {
  const { uid, title, ruleGroup, folderUID } = body;
  if (uid !== undefined && !(isText(uid, 40) && /^[A-Za-z0-9_-]+$/.test(uid)))
    return "invalid alert rule: UID is not valid";
  if (!isText(title, 190)) return "invalid alert rule: title must not be empty or longer than 190 characters";
  if (!isText(ruleGroup, 190)) return "invalid alert rule: rule group must not be empty";
  if (!isText(folderUID, 40)) return "invalid alert rule: folderUID must be set";
  for (const [key, values] of Object.entries(STATES))
    if (!values.includes(String(body[key]))) return `invalid alert rule: unknown ${key}`;
  if (promDuration(String(body.for ?? "0s")) === null)
    return "invalid alert rule: not a valid duration string";
  return null;
}

function mapProblem(body: Json, key: string): string | null {
  const map = body[key] ?? {};
  if (!isObject(map)) return "bad request data";
  return Object.values(map).every((value) => typeof value === "string") ? null : "bad request data";
}

const SETTINGS = ["receiver", "group_by", "group_wait", "group_interval", "repeat_interval"];
const TIME_INTERVALS = ["mute_time_intervals", "active_time_intervals"];

/** What a rule says of its own notifications; whether its receiver exists is for Grafana to look up. */
function settingsProblem(settings: unknown): string | null {
  if (settings === undefined || settings === null) return null;
  if (!isObject(settings)) return "bad request data";
  if (!isText(settings.receiver, 190)) return "invalid alert rule: receiver must be specified";
  const unknown = Object.keys(settings).find((key) => ![...SETTINGS, ...TIME_INTERVALS].includes(key));
  if (unknown !== undefined) return `bad request data: unknown field ${unknown}`;
  for (const key of ["group_by", ...TIME_INTERVALS])
    if (settings[key] !== undefined && !isTextList(settings[key])) return "bad request data";
  for (const key of ["group_wait", "group_interval", "repeat_interval"])
    if (settings[key] !== undefined && promDuration(String(settings[key])) === null)
      return "invalid alert rule: not a valid duration string";
  return null;
}

function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.every((text) => typeof text === "string");
}

function dataProblem({ data, condition }: Json): string | null {
  if (!Array.isArray(data) || data.length === 0)
    return "invalid alert rule: no queries or expressions are found";
  const refIds = new Set<unknown>();
  for (const step of data) {
    const problem = stepProblem(step, refIds);
    if (problem !== null) return `invalid alert rule: ${problem}`;
    refIds.add(step.refId);
  }
  return refIds.has(condition) ? null : `invalid alert rule: condition ${condition} does not exist`;
}

function stepProblem(step: unknown, earlier: ReadonlySet<unknown>): string | null {
  if (!isObject(step) || !isText(step.refId, 10) || earlier.has(step.refId))
    return "refId missing or repeated";
  if (!isText(step.datasourceUid, 40)) return "datasourceUid missing";
  const model = step.model;
  if (!isObject(model) || model.refId !== step.refId) return "model without the step's refId";
  if (step.datasourceUid === "__expr__" || step.datasourceUid === "-100")
    return expressionProblem(model, earlier);
  const range = step.relativeTimeRange;
  if (!isObject(range) || !(Number(range.from) > Number(range.to))) return "invalid relative time range";
  if (!isText(model.expr, 10_000)) return "query without an expression";
  if (![undefined, "", "instant", "range"].includes(model.queryType as string)) return "unknown query type";
  return null;
}

/** A reduction has to name a query, a comparison the reduction: a series cannot be compared. */
function expressionProblem(
  { type, expression, reducer, settings }: Json,
  earlier: ReadonlySet<unknown>,
): string | null {
  if (type === "reduce") {
    const isKnown = ["last", "mean", "sum", "min", "max", "count", "median"].includes(String(reducer));
    const mode = isObject(settings) ? settings.mode : undefined;
    if (![undefined, "dropNN", "replaceNN"].includes(mode as string)) return "unsupported reduce mode";
    return isKnown && earlier.has(expression) ? null : "invalid reduce expression";
  }
  if (type !== "math") return "unknown expression type";
  const variables = [...String(expression).matchAll(/\$\{?([A-Za-z]+)\}?/g)].map(([, name]) => name);
  return variables.length > 0 && variables.every((name) => earlier.has(name))
    ? null
    : "invalid math expression";
}

/** A duration as Grafana writes it, `90s` as `1m30s`; null when it is none. */
function promDuration(text: string): string | null {
  const match = /^(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(text);
  if (match === null || text === "") return null;
  const [days, hours, minutes, seconds] = match.slice(1).map((digits) => Number(digits ?? 0));
  let left = ((days! * 24 + hours!) * 60 + minutes!) * 60 + seconds!;
  const parts = [86_400, 3600, 60, 1].map((unit, index) => {
    const count = Math.floor(left / unit);
    left -= count * unit;
    return count > 0 ? `${count}${"dhms"[index]}` : "";
  });
  return parts.join("") || "0s";
}

function reversed(object: Json): Json {
  return Object.fromEntries(Object.entries(object).reverse());
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isText(value: unknown, longest: number): value is string {
  return typeof value === "string" && value !== "" && value.length <= longest;
}
