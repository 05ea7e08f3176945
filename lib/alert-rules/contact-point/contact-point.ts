import { createHash } from "node:crypto";
import { OpsError } from "../../platform/errors.ts";
import type { Secret } from "../../platform/secrets/secret.ts";
import type { GrafanaClient, GrafanaWrite } from "../../providers/grafana/client.ts";
import { type ContactPoint, HIDDEN_SETTING } from "../../providers/grafana/contact-point.ts";
import type { FieldChange } from "../compare.ts";
import { grafanaError, mustRead } from "../plan.ts";

/** The webhook's contact point as wanted: its name, the URL that it posts to, and the secret. */
export type WantedPoint = { name: string; url: string; bearer: Secret };

/**
 * What was done to the contact point.
 *
 * Shape: `secret` is `written` with this run, or `not_compared` when nothing was written and Grafana hides it.
 */
export type AppliedPoint = {
  name: string;
  uid: string;
  result: "created" | "updated" | "unchanged";
  changes: FieldChange[];
  secret: "written" | "equal" | "not_compared";
};

/** Shown in place of a secret. */
const SET = "(set)";
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
  const points = mustRead(await grafana.contactPoints(), "read the contact points") ?? [];
  const present = presentPoint(points, wanted);
  const uid = present?.uid ?? pointUid(name);
  const changes = present === null ? [] : pointChanges(present, wanted);
  if (present !== null && changes.length === 0 && !isRotation) {
    const isHidden = present.settings.authorization_credentials === HIDDEN_SETTING;
    return { name, uid, result: "unchanged", changes, secret: isHidden ? "not_compared" : "equal" };
  }
  const settings = { ...keptSettings(present?.settings ?? {}), url, httpMethod: "POST", maxAlerts: 0 };
  const point = { uid, name, settings, bearer };
  const write = await (present === null
    ? grafana.createContactPoint(point)
    : grafana.replaceContactPoint(point));
  const isVisible = present === null || changes.length > 0;
  await verifyPoint(grafana, wanted, { uid, write, isVisible });
  return { name, uid, result: present === null ? "created" : "updated", changes, secret: "written" };
}

/** The settings of a contact point that the webhook must not have, whatever its URL and its secret are. */
export function forbiddenSettings({ resolvedOff, settings }: ContactPoint): FieldChange[] {
  const kept = keptSettings(settings);
  const dropped = Object.keys(settings).filter((key) => kept[key] !== settings[key]);
  return [
    { path: "disableResolveMessage", from: resolvedOff, to: false },
    { path: "settings.httpMethod", from: settings.httpMethod || "POST", to: "POST" },
    { path: "settings.maxAlerts", from: Number(settings.maxAlerts ?? 0), to: 0 },
    { path: "settings.authorization_scheme", from: settings.authorization_scheme || "Bearer", to: "Bearer" },
    ...dropped.map((key) => ({ path: `settings.${key}`, from: SET, to: null })),
  ].filter(({ from, to }) => from !== to);
}

/**
 * The uid of the integration that opsctl makes for a name: always the same, so that Grafana refuses a repeated creation
 * instead of making a second integration.
 */
export function pointUid(name: string): string {
  return `opsctl-${createHash("sha256").update(name).digest("hex").slice(0, 16)}`;
}

/**
 * The integration to write; null when there is none yet.
 *
 * Errors: CONTACT_POINT_AMBIGUOUS when several webhook integrations have the name and none is opsctl's, or when a
 *         second one would deliver each alert twice.
 */
function presentPoint(points: readonly ContactPoint[], { name, url }: WantedPoint): ContactPoint | null {
  const webhooks = points.filter((point) => point.name === name && point.type === "webhook");
  const uid = pointUid(name);
  const present = webhooks.find((point) => point.uid === uid) ?? webhooks[0] ?? null;
  const others = webhooks.filter((point) => point !== present);
  const isAmbiguous = present?.uid !== uid || others.some(({ settings }) => settings.url === url);
  if (others.length === 0 || !isAmbiguous) return present;
  throw new OpsError({
    code: "CONTACT_POINT_AMBIGUOUS",
    message: `Cannot set the contact point ${JSON.stringify(name)}: ${webhooks.length} webhook integrations have this name`,
    hint: "Remove all but one in Grafana, or give another name with --receiver",
  });
}

/** The differences between Grafana's contact point and the wanted one; a hidden secret counts as equal. */
function pointChanges(present: ContactPoint, { url, bearer }: WantedPoint): FieldChange[] {
  const credentials = present.settings.authorization_credentials ?? "";
  const isRight = credentials === HIDDEN_SETTING || credentials === bearer.open();
  const shown = isRight ? SET : credentials === "" ? null : "(another)";
  return [
    { path: "settings.url", from: present.settings.url ?? null, to: url },
    { path: "settings.authorization_credentials", from: shown, to: SET },
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
  const isForbidden = (key: string, value: unknown) =>
    FORBIDDEN.includes(key) && value !== "" && value !== null;
  const kept = Object.fromEntries(
    Object.entries(settings).filter(([key, value]) => !isForbidden(key, value)),
  );
  const { headers } = settings;
  if (typeof headers !== "object" || headers === null) return kept;
  const others = Object.entries(headers).filter(([name]) => name.toLowerCase() !== OWN_HEADER);
  const isSame = others.length === Object.keys(headers).length;
  return isSame ? kept : { ...kept, headers: Object.fromEntries(others) };
}

async function verifyPoint(
  grafana: GrafanaClient,
  wanted: WantedPoint,
  { uid, write, isVisible }: { uid: string; write: GrafanaWrite; isVisible: boolean },
): Promise<void> {
  const name = JSON.stringify(wanted.name);
  const failure =
    write.status === "ok" ? null : grafanaError(write.problem, `write the contact point ${name}`);
  if (failure !== null && !isVisible) throw failure;
  const reading = await grafana.contactPoints();
  if (failure !== null && reading.status !== "ok") throw failure;
  const points = mustRead(reading, "read the contact points after the write") ?? [];
  const stored = points.find((point) => point.uid === uid && point.name === wanted.name);
  const changes = stored === undefined ? null : pointChanges(stored, wanted);
  if (changes?.length === 0) return;
  const paths = changes?.map(({ path }) => path).join(", ") ?? "everything";
  throw (
    failure ??
    new OpsError({
      code: "CONTACT_POINT_STORED_DIFFERENTLY",
      message: `Cannot set the contact point ${name}: Grafana stored something else: ${paths}`,
      hint: "Look at the contact point in Grafana; another program or a file may provide it",
    })
  );
}
