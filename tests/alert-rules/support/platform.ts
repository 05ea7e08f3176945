/** Grafana's stand-in and what a test does with it. */
import { expect } from "bun:test";
import { applyRules } from "../../../lib/alert-rules/apply.ts";
import { planRules } from "../../../lib/alert-rules/plan.ts";
import type { Receivers } from "../../../lib/alert-rules/rule-document.ts";
import { alertRules } from "../../../lib/alert-rules/rules/all.ts";
import { OpsError } from "../../../lib/platform/errors.ts";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { type GrafanaClient, grafanaClient } from "../../../lib/providers/grafana/client.ts";
import { type Monitoring, type MonitoringOptions, startMonitoring } from "../../standins/grafana.ts";
import type { KeptPoint } from "../../standins/grafana-contact-point.ts";
import { UIDS } from "./documents.ts";

/** The token of the tests: a value to search outputs for. */
export const TOKEN = "glsa_canaryMonitoringToken";

/** A stand-in with the tests' folder, and a client of it; stops when it goes out of scope. */
export async function openPlatform(
  options: Partial<MonitoringOptions> = {},
): Promise<{ platform: Monitoring; client: GrafanaClient } & AsyncDisposable> {
  const platform = await startMonitoring({ token: TOKEN, folders: [UIDS.folder], ...options });
  return { platform, client: clientOf(platform), [Symbol.asyncDispose]: () => platform.stop() };
}

/** A client of the stand-in. */
export function clientOf(platform: Monitoring, token = TOKEN, timeoutMs = 5_000): GrafanaClient {
  return grafanaClient({ baseUrl: new URL(platform.url), token: new Secret(token), timeoutMs });
}

/** The plan as `opsctl alert-rules plan` makes it. */
export function plan(client: GrafanaClient, withExtras = false, receivers: Receivers = {}) {
  return planRules(client, alertRules({ withExtras }), UIDS, receivers);
}

/** One `opsctl alert-rules apply`. */
export async function apply(client: GrafanaClient, withExtras = false, receivers: Receivers = {}) {
  return await applyRules(client, await plan(client, withExtras, receivers));
}

/** A contact point that Grafana has, as made on its pages. */
export function pointOf(name: string, more: Partial<KeptPoint> = {}): KeptPoint {
  const settings = { url: "https://alerts.example.com/webhook" };
  return {
    uid: `made-${name}`,
    name,
    type: "webhook",
    disableResolveMessage: false,
    settings,
    provenance: "",
    ...more,
  };
}

/** How many rules ended how, or would. */
export function tally(rules: readonly ({ result: string } | { action: string })[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const rule of rules) {
    const how = "result" in rule ? rule.result : rule.action;
    counts[how] = (counts[how] ?? 0) + 1;
  }
  return counts;
}

/** The failure of a command, which tells no secret. */
export async function failureOf(promise: Promise<unknown>): Promise<OpsError> {
  const error = await promise.then(
    () => null,
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(OpsError);
  expect(`${error.message} ${error.hint}`).not.toMatch(/canary/);
  return error;
}
