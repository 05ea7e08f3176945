/** The metrics platform, Grafana: keeps and evaluates the alert rules. */
import { member } from "../../platform/http/answer.ts";
import { type CallRecord, type CallResult, callPeer } from "../../platform/http/call-peer.ts";
import { peerUrl } from "../../platform/http/url.ts";
import type { Secret } from "../../platform/secrets/secret.ts";
import { type PlatformProblem, type PlatformReading, problemOf, readingOf } from "./answer.ts";
import type { RuleDocument } from "./document.ts";

export type { PlatformProblem, PlatformReading } from "./answer.ts";

/** Where a rule of the platform is and what it is called. */
export type ListedRule = { uid: string; title: string; folderUID: string; ruleGroup: string };

/** How a writing call ended: the rule as it was stored, or why there is none in the answer. */
export type RuleWrite = { status: "ok"; rule: unknown } | { status: "failed"; problem: PlatformProblem };

/** The calls of the provisioning API that opsctl makes; none is repeated here, and none deletes. */
export type GrafanaClient = {
  hasFolder(uid: string): Promise<PlatformReading<true>>;
  listRules(): Promise<PlatformReading<ListedRule[]>>;
  /** The rule as the platform keeps it, an object. */
  readRule(uid: string): Promise<PlatformReading<object>>;
  /** Seconds between two evaluations of a group. */
  groupInterval(folderUid: string, group: string): Promise<PlatformReading<number>>;
  createRule(rule: RuleDocument): Promise<RuleWrite>;
  replaceRule(rule: RuleDocument): Promise<RuleWrite>;
};

const TIMEOUT_MS = 20_000;
/** All rules of the platform come in one answer; about 3 KB each. */
const MAX_LIST_BYTES = 64 * 1_048_576;
const PROVISIONING = ["api", "v1", "provisioning"];
const RULES = [...PROVISIONING, "alert-rules"];

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
    hasFolder: async (uid) =>
      readingOf(await call("GET", ["api", "folders", uid]), (json) => (isObject(json) ? true : undefined)),
    listRules: async () => {
      const result = await call("GET", RULES);
      const reading = readingOf(result, parseList);
      // A platform always has a list, perhaps empty: a 404 is another address, or a platform without alerting.
      return reading.status === "ok" && reading.value === null
        ? { status: "failed", problem: problemOf(result) }
        : reading;
    },
    readRule: async (uid) =>
      readingOf(await call("GET", [...RULES, uid]), (json) => (isObject(json) ? json : undefined)),
    groupInterval: async (folderUid, group) => {
      const path = [...PROVISIONING, "folder", folderUid, "rule-groups", group];
      return readingOf(await call("GET", path), parseInterval);
    },
    createRule: async (rule) => writeOf(await call("POST", RULES, rule)),
    replaceRule: async (rule) => writeOf(await call("PUT", [...RULES, rule.uid], rule)),
  };
}

function parseList(json: unknown): ListedRule[] | undefined {
  if (!Array.isArray(json)) return undefined;
  const text = (rule: unknown, key: string) => {
    const value = member(rule, key);
    return typeof value === "string" ? value : "";
  };
  return json.map((rule) => ({
    uid: text(rule, "uid"),
    title: text(rule, "title"),
    folderUID: text(rule, "folderUID"),
    ruleGroup: text(rule, "ruleGroup"),
  }));
}

function parseInterval(json: unknown): number | undefined {
  const interval = member(json, "interval");
  return typeof interval === "number" && Number.isFinite(interval) ? interval : undefined;
}

function writeOf(result: CallResult): RuleWrite {
  const json = result.status === "answered" ? result.answer.json : undefined;
  return isObject(json) ? { status: "ok", rule: json } : { status: "failed", problem: problemOf(result) };
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
