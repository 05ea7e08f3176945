/** What Grafana demands of a contact point, what it keeps of it, and what it shows. */
import type { Json } from "./grafana-rule.ts";

/** One integration of a contact point as Grafana keeps it, its secrets opened. */
export type KeptPoint = {
  uid: string;
  name: string;
  type: string;
  disableResolveMessage: boolean;
  settings: Json;
  provenance: string;
};

const HIDDEN = "[REDACTED]";
/** The settings that Grafana keeps secret. */
const SECRETS = ["password", "authorization_credentials"];
/** The settings of a webhook that Grafana decodes into a text. */
const TEXTS = ["url", "httpMethod", "authorization_scheme", ...SECRETS, "username", "title", "message"];

/** Why Grafana refuses a contact point with these settings, or null. */
export function contactPointProblem(body: unknown, settings: unknown): string | null {
  if (!isObject(body)) return "bad request data";
  const problem = pointProblem(body, settings);
  return problem === null ? null : `invalid contact point: ${problem}`;
}

function pointProblem({ uid, name, type, disableResolveMessage = false }: Json, settings: unknown) {
  if (uid !== undefined && !/^[A-Za-z0-9_-]{1,40}$/.test(String(uid)))
    return "cannot create contact point with this UID";
  if (typeof disableResolveMessage !== "boolean") return "disableResolveMessage is no boolean";
  if (typeof name !== "string" || name === "") return "name should not be an empty string";
  if (!["webhook", "email"].includes(String(type))) return `unknown integration type ${type}`;
  if (!isObject(settings)) return "settings should not be empty";
  return type === "webhook" ? webhookProblem(settings) : null;
}

/** Each setting is of the type that Grafana decodes it into; the two ways of authentication exclude each other. */
function webhookProblem(settings: Json): string | null {
  const { url, httpMethod = "", maxAlerts = "" } = settings;
  const isWrong = (key: string) => settings[key] !== undefined && typeof settings[key] !== "string";
  if (TEXTS.some(isWrong) || !/^\d*$/.test(String(maxAlerts))) return "failed to unmarshal settings";
  if (!url) return "required field 'url' is not specified";
  if (!["", "POST", "PUT"].includes(httpMethod as string)) return "invalid HTTP method";
  const isBasic = Boolean(settings.username) && Boolean(settings.password);
  return isBasic && settings.authorization_credentials
    ? "both HTTP Basic Authentication and Authorization Header are set, only 1 is permitted"
    : null;
}

/** The settings of a replacement, in which a hidden secret stands for the one that is kept. */
export function mergedSettings(body: Json, present: KeptPoint): unknown {
  if (!isObject(body.settings)) return body.settings;
  const entries = Object.entries(body.settings).map(([key, value]) => [
    key,
    value === HIDDEN ? present.settings[key] : value,
  ]);
  return Object.fromEntries(entries);
}

/** The contact point as it is kept. */
export function keptPoint(body: Json, uid: string, provenance: string): KeptPoint {
  const { name, type, disableResolveMessage = false, settings } = structuredClone(body);
  return { uid, name, type, disableResolveMessage, settings, provenance } as KeptPoint;
}

/** The contact point as it is shown: no secret, keys in another order. */
export function shownPoint({ settings, provenance, ...point }: KeptPoint): Json {
  const shown = Object.entries(settings)
    .filter(([key, value]) => !SECRETS.includes(key) || value !== "")
    .map(([key, value]) => [key, SECRETS.includes(key) ? HIDDEN : value])
    .reverse();
  return { settings: Object.fromEntries(shown), ...point, ...(provenance === "" ? {} : { provenance }) };
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
