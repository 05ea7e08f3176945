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
/** The secret settings of each type of integration. */
const SECRETS: Record<string, string[]> = {
  webhook: ["password", "authorization_credentials"],
  email: [],
};

/** Why Grafana refuses a contact point with these settings, or null. */
export function contactPointProblem(body: unknown, settings: unknown): string | null {
  if (!isObject(body)) return "bad request data";
  const { uid, name, type, disableResolveMessage } = body;
  if (uid !== undefined && !(typeof uid === "string" && /^[A-Za-z0-9_-]{1,40}$/.test(uid)))
    return "invalid contact point: cannot create contact point with this UID";
  if (typeof name !== "string" || name === "")
    return "invalid contact point: name should not be an empty string";
  if (typeof type !== "string" || SECRETS[type] === undefined)
    return `invalid contact point: unknown integration type ${type}`;
  if (disableResolveMessage !== undefined && typeof disableResolveMessage !== "boolean")
    return "bad request data";
  if (!isObject(settings)) return "invalid contact point: settings should not be empty";
  return type === "webhook" ? webhookProblem(settings) : null;
}

/** Each setting is of the type that Grafana decodes it into; the two ways of authentication exclude each other. */
function webhookProblem(settings: Json): string | null {
  const { url, httpMethod, maxAlerts } = settings;
  const texts = [
    "authorization_scheme",
    "authorization_credentials",
    "username",
    "password",
    "title",
    "message",
  ];
  for (const key of ["url", "httpMethod", ...texts])
    if (settings[key] !== undefined && typeof settings[key] !== "string")
      return "invalid contact point: failed to unmarshal settings";
  if (!url) return "invalid contact point: required field 'url' is not specified";
  if (httpMethod !== undefined && !["", "POST", "PUT"].includes(httpMethod as string))
    return "invalid contact point: invalid HTTP method";
  if (maxAlerts !== undefined && !/^\d*$/.test(String(maxAlerts)))
    return "invalid contact point: failed to unmarshal settings";
  const isBasic = Boolean(settings.username) && Boolean(settings.password);
  if (isBasic && settings.authorization_credentials)
    return "invalid contact point: both HTTP Basic Authentication and Authorization Header are set, only 1 is permitted";
  return null;
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
  const secrets = SECRETS[point.type] ?? [];
  const shown = Object.entries(settings)
    .filter(([key, value]) => !secrets.includes(key) || value !== "")
    .map(([key, value]) => [key, secrets.includes(key) ? HIDDEN : value])
    .reverse();
  return {
    settings: Object.fromEntries(shown),
    ...point,
    ...(provenance === "" ? {} : { provenance }),
  };
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
