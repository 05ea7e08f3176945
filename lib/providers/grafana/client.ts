/** Grafana: stores and evaluates the alert rules. */
import { member } from "../../platform/http/answer.ts";
import { type CallRecord, type CallResult, callPeer } from "../../platform/http/call-peer.ts";
import { peerUrl } from "../../platform/http/url.ts";
import type { Secret } from "../../platform/secrets/secret.ts";
import { type GrafanaProblem, type GrafanaReading, problemOf, readingOf, textOf } from "./answer.ts";
import {
  type ContactPoint,
  contactPointBody,
  parseContactPoints,
  type WebhookContactPoint,
} from "./contact-point.ts";
import type { RuleDocument } from "./document.ts";
import { type Policy, parsePolicies } from "./policy.ts";

export type { GrafanaProblem, GrafanaReading } from "./answer.ts";

/**
 * A rule of Grafana in the list of all rules.
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

/** How a writing call ended. */
export type GrafanaWrite = { status: "ok" } | { status: "failed"; problem: GrafanaProblem };

/** The calls of the API that opsctl makes; none is repeated here, and none deletes. */
export type GrafanaClient = {
  /** The folder's path, as alerts carry it in the label `grafana_folder`. */
  folderPath(uid: string): Promise<GrafanaReading<string>>;
  /** The type of a data source, such as `prometheus`. */
  dataSourceType(uid: string): Promise<GrafanaReading<string>>;
  listRules(): Promise<GrafanaReading<ListedRule[]>>;
  /** The rule as Grafana stores it, an object. */
  readRule(uid: string): Promise<GrafanaReading<object>>;
  /** Seconds between two evaluations of a group. */
  groupInterval(folderUid: string, group: string): Promise<GrafanaReading<number>>;
  createRule(rule: RuleDocument): Promise<GrafanaWrite>;
  replaceRule(rule: RuleDocument): Promise<GrafanaWrite>;
  /** Every integration of every contact point. */
  contactPoints(): Promise<GrafanaReading<ContactPoint[]>>;
  createContactPoint(point: WebhookContactPoint): Promise<GrafanaWrite>;
  replaceContactPoint(point: WebhookContactPoint): Promise<GrafanaWrite>;
  /** The tree of notification policies. */
  policies(): Promise<GrafanaReading<Policy>>;
};

const TIMEOUT_MS = 20_000;
/** All rules come in one answer; about 3 KB each. */
const MAX_ANSWER_BYTES = 64 * 1_048_576;
const PROVISIONING = ["api", "v1", "provisioning"];
const RULES = [...PROVISIONING, "alert-rules"];
const POINTS = [...PROVISIONING, "contact-points"];

/**
 * The client of Grafana's provisioning API.
 *
 * Behaviour: no call carries `X-Disable-Provenance`, so every rule stays marked as provisioned by API, and read-only in
 *            Grafana's pages.
 * Errors:    none thrown; they come as problems with codes `monitoring_…`.
 * Source:    Grafana docs, Alerting provisioning, Folder and Data source HTTP API, read 2026-11-21.
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
    return callPeer({
      peer: "monitoring",
      method,
      url: peerUrl(baseUrl, path),
      headers: { authorization: `Bearer ${token.open()}` },
      body,
      timeoutMs,
      maxAnswerBytes: MAX_ANSWER_BYTES,
      onCall,
    });
  }

  async function read<T>(
    path: readonly string[],
    parse: (json: unknown) => T | undefined,
  ): Promise<GrafanaReading<T>> {
    return readingOf(await call("GET", path), parse);
  }

  /** Reads what every Grafana has, perhaps empty: a 404 is another address, or a Grafana without alerting. */
  async function readAlways<T>(
    path: readonly string[],
    parse: (json: unknown) => T | undefined,
  ): Promise<GrafanaReading<T>> {
    const result = await call("GET", path);
    const reading = readingOf(result, parse);
    const isAbsent = reading.status === "ok" && reading.value === null;
    return isAbsent ? { status: "failed", problem: problemOf(result) } : reading;
  }

  async function write(method: "POST" | "PUT", path: readonly string[], body: object): Promise<GrafanaWrite> {
    const result = await call(method, path, body);
    const isDone = result.status === "answered" && isObject(result.answer.json);
    return isDone ? { status: "ok" } : { status: "failed", problem: problemOf(result) };
  }

  return {
    folderPath: (uid) => read(["api", "folders", uid], parseFolder),
    dataSourceType: (uid) =>
      read(["api", "datasources", "uid", uid], (json) => textOf(json, "type") || undefined),
    listRules: () => readAlways(RULES, parseList),
    readRule: (uid) => read([...RULES, uid], (json) => (isObject(json) ? json : undefined)),
    groupInterval: (folderUid, group) =>
      read([...PROVISIONING, "folder", folderUid, "rule-groups", group], parseInterval),
    createRule: (rule) => write("POST", RULES, rule),
    replaceRule: (rule) => write("PUT", [...RULES, rule.uid], rule),
    contactPoints: () => readAlways(POINTS, parseContactPoints),
    createContactPoint: (point) => write("POST", POINTS, contactPointBody(point)),
    replaceContactPoint: (point) => write("PUT", [...POINTS, point.uid], contactPointBody(point)),
    policies: () => readAlways([...PROVISIONING, "policies"], parsePolicies),
  };
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

function labelsOf(value: unknown): Record<string, string> {
  const entries = isObject(value) ? Object.entries(value) : [];
  return Object.fromEntries(entries.map(([name, text]) => [name, String(text)]));
}

function parseFolder(json: unknown): string | undefined {
  if (!isObject(json)) return undefined;
  const parents = member(json, "parents");
  const titles = [...(Array.isArray(parents) ? parents : []), json].map((folder) => textOf(folder, "title"));
  return titles.join("/");
}

function parseInterval(json: unknown): number | undefined {
  const interval = member(json, "interval");
  return typeof interval === "number" && Number.isFinite(interval) ? interval : undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
