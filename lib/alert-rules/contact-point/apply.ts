import { OpsError } from "../../platform/errors.ts";
import type { GrafanaClient, PlatformProblem, PointWrite } from "../../providers/grafana/client.ts";
import type { ContactPoint, WebhookContactPoint } from "../../providers/grafana/contact-point.ts";
import type { FieldChange } from "../changes.ts";
import { platformError } from "../plan.ts";
import { isSecretHidden, keptSettings, pointChanges, type WantedPoint } from "./changes.ts";
import { type PointPlan, planPoint } from "./plan.ts";

/**
 * What was done to the contact point.
 *
 * Shape: `secret` is `written` with this run, or `not_compared` when nothing was written and the platform hides it.
 */
export type AppliedPoint = {
  name: string;
  uid: string;
  result: "created" | "updated" | "unchanged";
  changes: FieldChange[];
  secret: "written" | "equal" | "not_compared";
};

/**
 * Makes the webhook's contact point, or sets it right, by at most one write.
 *
 * Behaviour: after the write the platform's own copy decides. A lost answer counts as done when that copy shows what
 *            was written; the secret cannot be seen, so the repetition of a secret alone has to be answered.
 * Errors:    CONTACT_POINT_AMBIGUOUS, CONTACT_POINT_STORED_DIFFERENTLY, MONITORING_….
 */
export async function applyPoint(
  platform: GrafanaClient,
  wanted: WantedPoint,
  options: { isRotation: boolean },
): Promise<AppliedPoint> {
  const points = await readPoints(platform);
  const plan = planPoint(points, wanted, options);
  const { uid, changes } = plan;
  if (plan.action === "none") {
    const present = points.find((point) => point.uid === uid && point.name === wanted.name);
    const secret = present !== undefined && isSecretHidden(present) ? "not_compared" : "equal";
    return { name: wanted.name, uid, result: "unchanged", changes, secret };
  }
  const write = await writePoint(platform, plan, wanted);
  await proveWritten(platform, plan, wanted, write);
  const result = plan.action === "create" ? "created" : "updated";
  return { name: wanted.name, uid, result, changes, secret: "written" };
}

async function readPoints(platform: GrafanaClient): Promise<ContactPoint[]> {
  const reading = await platform.contactPoints();
  if (reading.status !== "ok") throw platformError(reading.problem, "read the contact points");
  return reading.value ?? [];
}

function writePoint(platform: GrafanaClient, plan: PointPlan, wanted: WantedPoint): Promise<PointWrite> {
  const { name, url, bearer } = wanted;
  const settings = { ...keptSettings(plan.settings), url, httpMethod: "POST", maxAlerts: 0 };
  const point: WebhookContactPoint = { uid: plan.uid, name, settings, bearer };
  return plan.action === "create" ? platform.createContactPoint(point) : platform.replaceContactPoint(point);
}

async function proveWritten(
  platform: GrafanaClient,
  plan: PointPlan,
  wanted: WantedPoint,
  write: PointWrite,
): Promise<void> {
  const isVisible = plan.action === "create" || plan.changes.length > 0;
  if (write.status !== "ok" && !isVisible) throw writeError(write.problem, wanted);
  const reading = await platform.contactPoints();
  if (reading.status !== "ok")
    throw write.status === "ok"
      ? platformError(reading.problem, "read the contact points after the write")
      : writeError(write.problem, wanted);
  const stored = reading.value?.find(({ uid, name }) => uid === plan.uid && name === wanted.name);
  const changes = stored === undefined ? null : pointChanges(stored, wanted);
  if (changes?.length === 0) return;
  if (write.status !== "ok") throw writeError(write.problem, wanted);
  throw storedDifferently(wanted.name, changes);
}

function writeError(problem: PlatformProblem, { name }: WantedPoint): OpsError {
  return platformError(problem, `write the contact point ${JSON.stringify(name)}`);
}

function storedDifferently(name: string, changes: FieldChange[] | null): OpsError {
  const what = changes?.map(({ path }) => path).join(", ") ?? "everything";
  return new OpsError({
    code: "CONTACT_POINT_STORED_DIFFERENTLY",
    message: `Cannot set the contact point ${JSON.stringify(name)}: the platform kept something else: ${what}`,
    hint: "Look at the contact point on the platform; another program or a file may provide it",
  });
}
