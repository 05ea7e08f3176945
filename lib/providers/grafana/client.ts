/** The metrics platform, Grafana: keeps and evaluates the alert rules. */
import { member } from "../../platform/http/answer.ts";
import { type CallRecord, type CallResult, callPeer } from "../../platform/http/call-peer.ts";
import { peerUrl } from "../../platform/http/url.ts";
import { redact } from "../../platform/secrets/redact.ts";
import type { Secret } from "../../platform/secrets/secret.ts";
import { type PlatformProblem, type PlatformReading, problemOf, readingOf, textOf } from "./answer.ts";
import {
  type ContactPoint,
  contactPointBody,
  parseContactPoints,
  type WebhookContactPoint,
} from "./contact-point.ts";
import type { RuleDocument } from "./document.ts";
import { type Policy, parsePolicies } from "./policy.ts";

export type { PlatformProblem, PlatformReading } from "./answer.ts";

/**
 * Where a rule of the platform is, what it is called, and what decides who receives it.
 *
 * Shape: `receiver` is the contact point that the rule itself names, null when the notification policies decide.
 */
export type ListedRule = {
  uid: string;
  title: string;
  folderUID: string;
  ruleGroup: string;
  labels: Readonly<Record<string, string>>;
  receiver: string | null;
};

/** How a writing call ended: the rule as it was stored, or why there is none in the answer. */
export type RuleWrite = { status: "ok"; rule: unknown } | { status: "failed"; problem: PlatformProblem };

/** How a writing call ended that returns nothing of use. */
export type PointWrite = { status: "ok" } | { status: "failed"; problem: PlatformProblem };

/** The calls of the provisioning API that opsctl makes; none is repeated here, and none deletes. */
export type GrafanaClient = {
  /** The folder's path, as alerts carry it in the label `grafana_folder`. */
  folderPath(uid: string): Promise<PlatformReading<string>>;
  listRules(): Promise<PlatformReading<ListedRule[]>>;
  /** The rule as the platform keeps it, an object. */
  readRule(uid: string): Promise<PlatformReading<object>>;
  /** Seconds between two evaluations of a group. */
  groupInterval(folderUid: string, group: string): Promise<PlatformReading<number>>;
  createRule(rule: RuleDocument): Promise<RuleWrite>;
  replaceRule(rule: RuleDocument): Promise<RuleWrite>;
  /** Every integration of every contact point. */
  contactPoints(): Promise<PlatformReading<ContactPoint[]>>;
  createContactPoint(point: WebhookContactPoint): Promise<PointWrite>;
  replaceContactPoint(point: WebhookContactPoint): Promise<PointWrite>;
  /** The tree of notification policies. */
  policies(): Promise<PlatformReading<Policy>>;
};

const TIMEOUT_MS = 20_000;
/** All rules of the platform come in one answer; about 3 KB each. */
const MAX_LIST_BYTES = 64 * 1_048_576;
const PROVISIONING = ["api", "v1", "provisioning"];
const RULES = [...PROVISIONING, "alert-rules"];
const CONTACT_POINTS = [...PROVISIONING, "contact-points"];

/**
 * The client of the metrics platform's provisioning API.
 *
 * Behaviour: no call carries `X-Disable-Provenance`, so every rule stays marked as provisioned by API, and read-only in
 *            the platform's pages.
 * Errors:    none thrown; they come as problems with codes `monitoring_…`.
 * Source:    Grafana docs, Alerting provisioning HTTP API and Folder API, read 2026-11-21.
 */
export function grafanaClient(options: {
  baseUrl: URL;
  token: Secret;
  timeoutMs?: number;
  onCall?: (record: CallRecord) => void;
}): GrafanaClient {
  const { baseUrl, token, timeoutMs = TIMEOUT_MS, onCall } = options;

  function call(
    method: "GET" | "POST" | "PUT",
    path: readonly string[],
    body?: unknown,
  ): Promise<CallResult> {
    const url = peerUrl(baseUrl, path);
    const headers = { authorization: `Bearer ${token.open()}` };
    const maxAnswerBytes = MAX_LIST_BYTES;
    return callPeer({ peer: "monitoring", method, url, headers, body, timeoutMs, maxAnswerBytes, onCall });
  }

  return {
    folderPath: async (uid) => readingOf(await call("GET", ["api", "folders", uid]), parseFolder),
    listRules: async () => alwaysThere(await call("GET", RULES), parseList),
    readRule: async (uid) =>
      readingOf(await call("GET", [...RULES, uid]), (json) => (isObject(json) ? json : undefined)),
    groupInterval: async (folderUid, group) => {
      const path = [...PROVISIONING, "folder", folderUid, "rule-groups", group];
      return readingOf(await call("GET", path), parseInterval);
    },
    createRule: async (rule) => writeOf(await call("POST", RULES, rule)),
    replaceRule: async (rule) => writeOf(await call("PUT", [...RULES, rule.uid], rule)),
    contactPoints: async () => alwaysThere(await call("GET", CONTACT_POINTS), parseContactPoints),
    createContactPoint: async (point) =>
      pointWriteOf(await call("POST", CONTACT_POINTS, contactPointBody(point))),
    replaceContactPoint: async (point) =>
      pointWriteOf(await call("PUT", [...CONTACT_POINTS, point.uid], contactPointBody(point))),
    policies: async () => alwaysThere(await call("GET", [...PROVISIONING, "policies"]), parsePolicies),
  };
}

/** A reading of what every platform has, perhaps empty: a 404 is another address, or a platform without alerting. */
function alwaysThere<T>(result: CallResult, read: (json: unknown) => T | undefined): PlatformReading<T> {
  const reading = readingOf(result, read);
  return reading.status === "ok" && reading.value === null
    ? { status: "failed", problem: problemOf(result) }
    : reading;
}

function parseList(json: unknown): ListedRule[] | undefined {
  if (!Array.isArray(json)) return undefined;
  return json.map((rule) => ({
    uid: textOf(rule, "uid"),
    title: textOf(rule, "title"),
    folderUID: textOf(rule, "folderUID"),
    ruleGroup: textOf(rule, "ruleGroup"),
    labels: labelsOf(member(rule, "labels")),
    receiver: textOf(member(rule, "notification_settings"), "receiver") || null,
  }));
}

function parseFolder(json: unknown): string | undefined {
  if (!isObject(json)) return undefined;
  const parents = member(json, "parents");
  const titles = [...(Array.isArray(parents) ? parents : []), json].map((folder) => textOf(folder, "title"));
  return titles.join("/");
}

function labelsOf(value: unknown): Record<string, string> {
  const entries = isObject(value) ? Object.entries(value) : [];
  return Object.fromEntries(entries.map(([name, text]) => [name, String(text)]));
}

function parseInterval(json: unknown): number | undefined {
  const interval = member(json, "interval");
  return typeof interval === "number" && Number.isFinite(interval) ? interval : undefined;
}

function writeOf(result: CallResult): RuleWrite {
  const json = result.status === "answered" ? result.answer.json : undefined;
  return isObject(json) ? { status: "ok", rule: json } : { status: "failed", problem: problemOf(result) };
}

function pointWriteOf(result: CallResult): PointWrite {
  if (result.status === "answered") return { status: "ok" };
  const problem = problemOf(result);
  // A validation error may quote what was sent.
  const message = problem.message === null ? null : redact(problem.message);
  return { status: "failed", problem: { ...problem, message } };
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
