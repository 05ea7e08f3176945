import type { Secret } from "../../platform/secrets/secret.ts";
import { type ContactPoint, HIDDEN_SETTING } from "../../providers/grafana/contact-point.ts";
import type { FieldChange } from "../changes.ts";

/** The webhook's contact point as it has to be: its name, where it posts, and with which secret. */
export type WantedPoint = { name: string; url: string; bearer: Secret };

/** What is shown in the place of a secret. */
const SET = "(set)";
/** Settings that would change what arrives, or how it authenticates itself; a person's other settings stay. */
const DISTURBING = ["username", "password", "payload", "http_config"] as const;
const OWN_HEADER = "x-webhook-secret";

/**
 * The differences between the platform's contact point and the wanted one, secrets as "(set)".
 *
 * Behaviour: a secret that the platform hides counts as equal; see `isSecretHidden`.
 */
export function pointChanges(present: ContactPoint, wanted: WantedPoint): FieldChange[] {
  const credentials = present.settings.authorization_credentials ?? "";
  const isRight = credentials === HIDDEN_SETTING || credentials === wanted.bearer.open();
  return [
    change("settings.url", present.settings.url ?? null, wanted.url),
    change(
      "settings.authorization_credentials",
      isRight ? SET : credentials === "" ? null : "(another)",
      SET,
    ),
    ...disturbances(present),
  ].filter(({ from, to }) => from !== to);
}

/** What a contact point of the webhook must not have, whatever its address and its secret are. */
export function disturbances({ resolvedOff, settings }: ContactPoint): FieldChange[] {
  const kept = keptSettings(settings);
  const dropped = Object.keys(settings).filter((key) => kept[key] !== settings[key]);
  return [
    change("disableResolveMessage", resolvedOff, false),
    change("settings.httpMethod", settings.httpMethod || "POST", "POST"),
    change("settings.maxAlerts", Number(settings.maxAlerts ?? 0), 0),
    change("settings.authorization_scheme", settings.authorization_scheme || "Bearer", "Bearer"),
    ...dropped.map((key) => change(`settings.${key}`, SET, null)),
  ].filter(({ from, to }) => from !== to);
}

/** Whether the platform hides the stored secret, so that it could not be compared. */
export function isSecretHidden({ settings }: Pick<ContactPoint, "settings">): boolean {
  return settings.authorization_credentials === HIDDEN_SETTING;
}

/**
 * The settings of a contact point that stay when it is written: all but what would disturb the webhook.
 *
 * Behaviour: drops basic authentication, which excludes the bearer token, OAuth2, whose token would take its place, a
 *            custom payload, and the webhook's own header, whose value would be another than the token's after a change
 *            of the secret; other headers stay.
 * Source:    grafana/alerting http/config.go (`http_config` holds OAuth2 alone), http/client.go, read 2026-11-22.
 */
export function keptSettings(settings: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const kept = Object.entries(settings).filter(([key, value]) => !isDisturbing(key, value));
  const { headers } = settings;
  if (typeof headers !== "object" || headers === null) return Object.fromEntries(kept);
  const others = Object.entries(headers).filter(([name]) => name.toLowerCase() !== OWN_HEADER);
  const isSame = others.length === Object.keys(headers).length;
  return { ...Object.fromEntries(kept), headers: isSame ? headers : Object.fromEntries(others) };
}

function isDisturbing(key: string, value: unknown): boolean {
  return DISTURBING.some((name) => name === key) && value !== "" && value !== null;
}

function change(path: string, from: unknown, to: unknown): FieldChange {
  return { path, from, to };
}
