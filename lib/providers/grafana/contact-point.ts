import { member } from "../../platform/http/answer.ts";
import type { Secret } from "../../platform/secrets/secret.ts";
import { textOf } from "./answer.ts";

/** Shown by Grafana in place of a secret setting; written back, it keeps the stored secret. */
export const HIDDEN_SETTING = "[REDACTED]";

/**
 * One integration of a contact point, as Grafana shows it; several may have one `name`.
 *
 * Shape: secret settings are `HIDDEN_SETTING`.
 */
export type ContactPoint = {
  uid: string;
  name: string;
  type: string;
  resolvedOff: boolean;
  settings: Readonly<Record<string, unknown>>;
};

/** A webhook integration to write; it authenticates with `bearer`. */
export type WebhookContactPoint = {
  uid: string;
  name: string;
  settings: Readonly<Record<string, unknown>>;
  bearer: Secret;
};

/** The list of contact points; undefined for any other JSON. */
export function parseContactPoints(json: unknown): ContactPoint[] | undefined {
  if (!Array.isArray(json)) return undefined;
  return json.map((point) => {
    const settings = member(point, "settings");
    return {
      uid: textOf(point, "uid"),
      name: textOf(point, "name"),
      type: textOf(point, "type"),
      resolvedOff: member(point, "disableResolveMessage") === true,
      settings: typeof settings === "object" && settings !== null ? { ...settings } : {},
    };
  });
}

/**
 * The body that creates or replaces a webhook integration; it holds the opened secret.
 *
 * Source: grafana/alerting receivers/webhook/config.go, read 2026-11-22: the credentials are a secure setting, which
 *         Grafana never shows again, while `headers` are stored in the clear.
 */
export function contactPointBody({ uid, name, settings, bearer }: WebhookContactPoint): object {
  return {
    uid,
    name,
    type: "webhook",
    disableResolveMessage: false,
    settings: { ...settings, authorization_scheme: "Bearer", authorization_credentials: bearer.open() },
  };
}
