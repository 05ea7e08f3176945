import { createHash } from "node:crypto";
import { OpsError } from "../platform/errors.ts";
import type { Secret } from "../platform/secrets/secret.ts";
import type { GrafanaClient } from "../providers/grafana/client.ts";
import type { ContactPoint } from "../providers/grafana/notifications.ts";
import type { FieldChange } from "./compare.ts";
import { grafanaError, mustRead } from "./plan.ts";

/** The webhook's contact point as wanted: its name, the URL that it posts to, and the secret. */
export type WantedPoint = { name: string; url: string; bearer: Secret };

/** What was done to the contact point; `not_compared`: nothing was written, and Grafana hides the secret. */
export type AppliedPoint = {
  name: string;
  uid: string;
  result: "created" | "updated" | "unchanged";
  changes: FieldChange[];
  secret: "written" | "not_compared";
};

/** Shown in place of a secret. */
const SET = "(set)";
/** What the settings must be, and what Grafana takes them for where they are absent. */
const FIXED = { httpMethod: "POST", maxAlerts: 0, authorization_scheme: "Bearer" };
/** Settings that change what arrives or how the request authenticates; a person's other settings stay. */
const FORBIDDEN = ["username", "password", "payload", "http_config"];
const OWN_HEADER = "x-webhook-secret";

/**
 * Creates or corrects the webhook's contact point with at most one write.
 *
 * Behaviour: the integration that opsctl made is known by its uid; a single webhook integration of that name that a
 *            person made is taken over. `isRotation` writes the secret even when nothing differs. After the write
 *            Grafana's copy decides, so a lost answer counts as done; Grafana hides the secret, so a write of the secret
 *            alone needs an answer.
 * Errors:    CONTACT_POINT_AMBIGUOUS, CONTACT_POINT_STORED_DIFFERENTLY, MONITORING_….
 */
export async function applyPoint(
  grafana: GrafanaClient,
  wanted: WantedPoint,
  { isRotation }: { isRotation: boolean },
): Promise<AppliedPoint> {
  const { name, url, bearer } = wanted;
  const shown = JSON.stringify(name);
  const points = mustRead(await grafana.contactPoints(), "read the contact points") ?? [];
  const present = presentPoint(points, name);
  const uid = present?.uid ?? pointUid(name);
  const changes = present === null ? [] : pointChanges(present, url);
  if (present !== null && changes.length === 0 && !isRotation)
    return { name, uid, result: "unchanged", changes, secret: "not_compared" };
  const point = { uid, name, settings: { ...keptSettings(present?.settings ?? {}), url, ...FIXED }, bearer };
  const write = await (present === null
    ? grafana.createContactPoint(point)
    : grafana.replaceContactPoint(point));
  const failure =
    write.status === "ok" ? null : grafanaError(write.problem, `write the contact point ${shown}`);
  const isVisible = present === null || changes.length > 0;
  const after = await grafana.contactPoints();
  if (failure !== null && (!isVisible || after.status !== "ok")) throw failure;
  const stored = mustRead(after, "read the contact points after the write")?.find((one) => one.uid === uid);
  const paths = stored === undefined ? ["everything"] : pointChanges(stored, url).map(({ path }) => path);
  if (paths.length > 0)
    throw (
      failure ??
      new OpsError({
        code: "CONTACT_POINT_STORED_DIFFERENTLY",
        message: `Cannot set the contact point ${shown}: Grafana stored something else: ${paths.join(", ")}`,
        hint: "Look at the contact point in Grafana; another program or a file may provide it",
      })
    );
  return { name, uid, result: present === null ? "created" : "updated", changes, secret: "written" };
}

/** The settings of a contact point that the webhook must not have, whatever its URL and its secret are. */
export function forbiddenSettings({ resolvedOff, settings }: ContactPoint): FieldChange[] {
  const kept = keptSettings(settings);
  const dropped = Object.keys(settings).filter((key) => kept[key] !== settings[key]);
  return [
    { path: "disableResolveMessage", from: resolvedOff, to: false },
    ...Object.entries(FIXED).map(([key, to]) => ({ path: `settings.${key}`, from: settings[key] || to, to })),
    ...dropped.map((key) => ({ path: `settings.${key}`, from: SET, to: null })),
  ].filter(({ from, to }) => String(from) !== String(to));
}

/** The uid of opsctl's integration for a name: always the same, so that Grafana refuses to create it twice. */
export function pointUid(name: string): string {
  return `opsctl-${createHash("sha256").update(name).digest("hex").slice(0, 16)}`;
}

/** The integration to write: opsctl's own, else a person's only one; null when there is none yet. */
function presentPoint(points: readonly ContactPoint[], name: string): ContactPoint | null {
  const webhooks = points.filter((point) => point.name === name && point.type === "webhook");
  const own = webhooks.find((point) => point.uid === pointUid(name));
  if (own !== undefined || webhooks.length < 2) return own ?? webhooks[0] ?? null;
  throw new OpsError({
    code: "CONTACT_POINT_AMBIGUOUS",
    message: `Cannot set the contact point ${JSON.stringify(name)}: ${webhooks.length} webhook integrations have this name`,
    hint: "Remove all but one in Grafana, or give another name with --receiver",
  });
}

/** The differences between Grafana's contact point and the wanted one; a secret that is set counts as equal. */
function pointChanges(present: ContactPoint, url: string): FieldChange[] {
  const { settings } = present;
  const credentials = settings.authorization_credentials ? SET : null;
  return [
    { path: "settings.url", from: settings.url ?? null, to: url },
    { path: "settings.authorization_credentials", from: credentials, to: SET },
    ...forbiddenSettings(present),
  ].filter(({ from, to }) => from !== to);
}

/**
 * The settings of a contact point that stay when it is written.
 *
 * Behaviour: drops basic authentication, which excludes the bearer token, OAuth2, whose token would replace it, a
 *            custom payload, and the webhook's own header, whose value would be outdated after a change of the secret;
 *            other headers stay.
 * Source:    grafana/alerting http/config.go (`http_config` holds OAuth2 alone), http/client.go, read 2026-11-22.
 */
function keptSettings(settings: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const kept = Object.fromEntries(
    Object.entries(settings).filter(([key, value]) => !(FORBIDDEN.includes(key) && value)),
  );
  const headers = Object.entries(Object(settings.headers));
  const others = headers.filter(([name]) => name.toLowerCase() !== OWN_HEADER);
  return others.length === headers.length ? kept : { ...kept, headers: Object.fromEntries(others) };
}
