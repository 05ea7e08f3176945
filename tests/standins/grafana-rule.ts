/** What Grafana demands of a rule document, and what it makes of one that it keeps. */

/** A JSON object. */
export type Json = Record<string, unknown>;

const UID = /^[A-Za-z0-9_-]{1,40}$/;
const TITLE = /^.{1,190}$/s;
const STATES = { noDataState: "NoData", execErrState: "Error" };
const REDUCERS = ["last", "mean", "sum", "min", "max", "count", "median"];
const TIMES = ["group_wait", "group_interval", "repeat_interval"];
const LISTS = ["group_by", "mute_time_intervals", "active_time_intervals"];

/** Why Grafana refuses a rule document, or null. */
export function ruleProblem(body: unknown): string | null {
  if (!isObject(body)) return "bad request data";
  const { notification_settings: settings, labels, annotations } = body;
  for (const map of [labels ?? {}, annotations ?? {}])
    if (!isObject(map) || !Object.values(map).every((value) => typeof value === "string"))
      return "bad request data";
  const problem =
    fieldProblem(body) ?? (isObject(settings) ? settingsProblem(settings) : null) ?? dataProblem(body);
  return problem === null ? null : `invalid alert rule: ${problem}`;
}

/** The rule as Grafana answers it: defaults added, durations rewritten, its own keys, another order. */
export function storedRule(body: Json, id: number, provenance: string): Json {
  const data = (body.data as Json[]).map((step) => {
    const model: Json = { intervalMs: 1000, maxDataPoints: 43_200, ...(step.model as Json) };
    return {
      model: reversed(model),
      datasourceUid: step.datasourceUid,
      relativeTimeRange: step.relativeTimeRange ?? { from: 0, to: 0 },
      queryType: model.queryType ?? step.queryType ?? "",
      refId: step.refId,
    };
  });
  const defaults = { isPaused: false, keep_firing_for: "0s", notification_settings: null, record: null };
  const own = { for: promDuration(body.for), updated: new Date().toISOString(), provenance };
  return { id, orgID: 1, ...reversed({ ...defaults, ...body }), data, ...own };
}

function fieldProblem(body: Json): string | null {
  if (body.uid !== undefined && !UID.test(String(body.uid))) return "UID is not valid";
  for (const [key, form] of Object.entries({ title: TITLE, ruleGroup: TITLE, folderUID: UID }))
    if (typeof body[key] !== "string" || !form.test(body[key])) return `${key} is not valid`;
  for (const [key, own] of Object.entries(STATES))
    if (!["OK", "Alerting", "KeepLast", own].includes(String(body[key]))) return `unknown ${key}`;
  return promDuration(body.for ?? "0s") === null ? "not a valid duration string" : null;
}

/** What a rule says of its own notifications; whether its receiver exists is for Grafana to look up. */
function settingsProblem(settings: Json): string | null {
  if (typeof settings.receiver !== "string" || settings.receiver === "") return "receiver must be specified";
  for (const [key, value] of Object.entries(settings)) {
    if (TIMES.includes(key) && promDuration(value) === null) return "not a valid duration string";
    if (LISTS.includes(key) && !Array.isArray(value)) return `${key} is not a list`;
    if (![...TIMES, ...LISTS, "receiver"].includes(key)) return `unknown field ${key}`;
  }
  return null;
}

function dataProblem({ data, condition }: Json): string | null {
  if (!Array.isArray(data) || data.length === 0) return "no queries or expressions are found";
  const refIds = new Set<unknown>();
  for (const step of data) {
    const problem = stepProblem(step, refIds);
    if (problem !== null) return problem;
    refIds.add(step.refId);
  }
  return refIds.has(condition) ? null : `condition ${condition} does not exist`;
}

function stepProblem(step: Json, earlier: ReadonlySet<unknown>): string | null {
  const { refId, datasourceUid, model, relativeTimeRange: range } = step;
  if (typeof refId !== "string" || earlier.has(refId)) return "refId missing or repeated";
  if (!isObject(model) || model.refId !== refId) return "model without the step's refId";
  if (datasourceUid === "__expr__") return expressionProblem(model, earlier);
  if (!UID.test(String(datasourceUid))) return "datasourceUid missing";
  if (!isObject(range) || !(Number(range.from) > Number(range.to))) return "invalid relative time range";
  if (typeof model.expr !== "string" || model.expr === "") return "query without an expression";
  if (![undefined, "instant", "range"].includes(model.queryType as string)) return "unknown query type";
  return null;
}

/** A reduction has to name a query, a comparison the reduction: a series cannot be compared. */
function expressionProblem(model: Json, earlier: ReadonlySet<unknown>): string | null {
  const { type, expression, reducer, settings } = model;
  if (type === "reduce") {
    const mode = isObject(settings) ? settings.mode : undefined;
    if (![undefined, "dropNN", "replaceNN"].includes(mode as string)) return "unsupported reduce mode";
    const isRight = REDUCERS.includes(String(reducer)) && earlier.has(expression);
    return isRight ? null : "invalid reduce expression";
  }
  if (type !== "math") return "unknown expression type";
  const variables = [...String(expression).matchAll(/\$\{?([A-Za-z]+)\}?/g)].map(([, name]) => name);
  const isRight = variables.length > 0 && variables.every((name) => earlier.has(name));
  return isRight ? null : "invalid math expression";
}

/** A duration as Grafana writes it, `90s` as `1m30s`; null when it is none. */
function promDuration(text: unknown): string | null {
  const match = /^(?=.)(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(String(text));
  if (match === null) return null;
  const [hours, minutes, seconds] = match.slice(1).map((digits) => Number(digits ?? 0));
  const total = (hours! * 60 + minutes!) * 60 + seconds!;
  const parts = { h: Math.floor(total / 3600), m: Math.floor(total / 60) % 60, s: total % 60 };
  const written = Object.entries(parts).map(([unit, count]) => (count > 0 ? `${count}${unit}` : ""));
  return written.join("") || "0s";
}

function reversed(object: Json): Json {
  return Object.fromEntries(Object.entries(object).reverse());
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
