import { createHash } from "node:crypto";
import { OpsError } from "../../platform/errors.ts";
import type { ContactPoint } from "../../providers/grafana/contact-point.ts";
import type { FieldChange } from "../changes.ts";
import { pointChanges, type WantedPoint } from "./changes.ts";

/**
 * What to do with the contact point, and why.
 *
 * Shape: `uid` is that of the integration to write; `settings` are its other settings, which are kept. `changes` is
 *        filled for an update; it is empty for one that only brings the secret again.
 */
export type PointPlan = {
  action: "create" | "update" | "none";
  uid: string;
  settings: Readonly<Record<string, unknown>>;
  changes: FieldChange[];
};

/**
 * Compares the contact point with the platform's of the same name.
 *
 * Behaviour: the integration that opsctl made is known by its uid; a single webhook integration of that name that a
 *            person made is taken over. The stored secret cannot be compared, so `isRotation` writes it in any case.
 * Errors:    CONTACT_POINT_AMBIGUOUS when several webhook integrations have the name and none is opsctl's, or when a
 *            second one would deliver each alert twice.
 */
export function planPoint(
  points: readonly ContactPoint[],
  wanted: WantedPoint,
  { isRotation }: { isRotation: boolean },
): PointPlan {
  const webhooks = points.filter(({ name, type }) => name === wanted.name && type === "webhook");
  const uid = pointUid(wanted.name);
  const present = webhooks.find((point) => point.uid === uid) ?? webhooks[0];
  if (present === undefined) return { action: "create", uid, settings: {}, changes: [] };
  const others = webhooks.filter((point) => point !== present);
  if (
    others.length > 0 &&
    (present.uid !== uid || others.some(({ settings }) => settings.url === wanted.url))
  )
    throw ambiguous(wanted.name, webhooks.length);
  const changes = pointChanges(present, wanted);
  const action = changes.length > 0 || isRotation ? "update" : "none";
  return { action, uid: present.uid, settings: present.settings, changes };
}

/**
 * The uid of the integration that opsctl makes for a name: the same each time, so that a repeated creation is refused
 * by the platform instead of making a second one.
 */
export function pointUid(name: string): string {
  return `opsctl-${createHash("sha256").update(name).digest("hex").slice(0, 16)}`;
}

function ambiguous(name: string, count: number): OpsError {
  return new OpsError({
    code: "CONTACT_POINT_AMBIGUOUS",
    message: `Cannot set the contact point ${JSON.stringify(name)}: ${count} webhook integrations have this name`,
    hint: "Remove all but one on the platform, or give another name with --receiver",
  });
}
