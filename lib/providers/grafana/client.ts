/** Grafana: stores and evaluates the alert rules. */
import { member } from "../../platform/http/answer.ts";
import { type CallRecord, type CallResult, callPeer } from "../../platform/http/call-peer.ts";
import { peerUrl } from "../../platform/http/url.ts";
import { redact } from "../../platform/secrets/redact.ts";
import type { Secret } from "../../platform/secrets/secret.ts";
import { singleLine } from "../../text/single-line.ts";
import { codeOfCall } from "../send-outcome.ts";
import type { RuleDocument } from "./document.ts";
import {
  contactPointBody,
  isObject,
  parseContactPoints,
  parsePolicies,
  textOf,
  type WebhookContactPoint,
} from "./notifications.ts";

/** Why a call failed: a code `monitoring_…`, and Grafana's own sentence when it gave one that may be shown. */
export type GrafanaProblem = { code: string; status: number | null; message: string | null };

/** What was read, null when Grafana answers that it does not exist; or why it could not be read. */
export type GrafanaReading<T> =
  | { status: "ok"; value: T | null }
  | { status: "failed"; problem: GrafanaProblem };

/** How a writing call ended. */
export type GrafanaWrite = { status: "ok" } | { status: "failed"; problem: GrafanaProblem };

/**
 * A rule of Grafana in the list of all rules; `stored` is all of it.
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
  stored: object;
};

/** The calls of the API that opsctl makes; none is repeated here, and none deletes. */
export type GrafanaClient = ReturnType<typeof grafanaClient>;

const TIMEOUT_MS = 20_000;
/** All rules come in one answer; about 3 KB each. */
const MAX_ANSWER_BYTES = 64 * 1_048_576;
const MAX_MESSAGE = 300;
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
}) {
  const { baseUrl, token, timeoutMs = TIMEOUT_MS, onCall } = options;

  function call(method: "GET" | "POST" | "PUT", path: readonly string[], body?: object): Promise<CallResult> {
    const url = peerUrl(baseUrl, path);
    const headers = { authorization: `Bearer ${token.open()}` };
    const limits = { timeoutMs, maxAnswerBytes: MAX_ANSWER_BYTES };
    return callPeer({ peer: "monitoring", method, url, headers, body, ...limits, onCall });
  }

  /**
   * Reads what every Grafana has, perhaps empty; `parse` returns undefined for what it does not understand. A 404 is
   * another address, or a Grafana without alerting.
   */
  async function read<T>(
    path: readonly string[],
    parse: (json: unknown) => T | undefined,
  ): Promise<GrafanaReading<T>> {
    const result = await call("GET", path);
    const { answer } = result;
    const value = answer?.status === 200 && answer.text !== null ? parse(answer.json) : undefined;
    return value === undefined ? { status: "failed", problem: problemOf(result) } : { status: "ok", value };
  }

  /** Reads what may be absent: Grafana's own 404, not a page of a proxy. */
  async function find<T>(
    path: readonly string[],
    parse: (json: unknown) => T | undefined,
  ): Promise<GrafanaReading<T>> {
    const reading = await read(path, parse);
    const isAbsent = reading.status === "failed" && reading.problem.code.endsWith("_http_404");
    return isAbsent ? { status: "ok", value: null } : reading;
  }

  async function write(method: "POST" | "PUT", path: readonly string[], body: object): Promise<GrafanaWrite> {
    const result = await call(method, path, body);
    const isDone = result.status === "answered" && isObject(result.answer.json);
    return isDone ? { status: "ok" } : { status: "failed", problem: problemOf(result) };
  }

  return {
    /** The folder's path, as alerts carry it in the label `grafana_folder`. */
    folderPath: (uid: string) => find(["api", "folders", uid], parseFolder),
    /** The type of a data source, such as `prometheus`. */
    dataSourceType: (uid: string) =>
      find(["api", "datasources", "uid", uid], (json) => textOf(json, "type") || undefined),
    listRules: () => read(RULES, parseList),
    readRule: (uid: string) => find([...RULES, uid], (json) => (isObject(json) ? json : undefined)),
    /** Seconds between two evaluations of a group. */
    groupInterval: (folderUid: string, group: string) =>
      find([...PROVISIONING, "folder", folderUid, "rule-groups", group], parseInterval),
    createRule: (rule: RuleDocument) => write("POST", RULES, rule),
    replaceRule: (rule: RuleDocument) => write("PUT", [...RULES, rule.uid], rule),
    /** Every integration of every contact point. */
    contactPoints: () => read(POINTS, parseContactPoints),
    createContactPoint: (point: WebhookContactPoint) => write("POST", POINTS, contactPointBody(point)),
    replaceContactPoint: (point: WebhookContactPoint) =>
      write("PUT", [...POINTS, point.uid], contactPointBody(point)),
    /** The tree of notification policies. */
    policies: () => read([...PROVISIONING, "policies"], parsePolicies),
  };
}

/** Why a call failed; a success, a redirection or a refusal that is not Grafana's JSON is a failure as well. */
function problemOf(result: CallResult): GrafanaProblem {
  const { answer, problem } = result;
  const status = answer?.status ?? null;
  const isOfGrafana = answer?.json !== undefined || answer?.text === "";
  const isUnreadable = problem === null && status !== null && status < 500 && (status <= 299 || !isOfGrafana);
  const code = isUnreadable ? "monitoring_answer_unreadable" : codeOfCall("monitoring", result);
  return { code, status, message: messageOf(answer?.json) };
}

/** Grafana's sentence; a validation error may quote a secret that was sent. */
function messageOf(json: unknown): string | null {
  const message = textOf(json, "message");
  if (/<[a-z!/]/i.test(message)) return null;
  return redact(singleLine(message)).slice(0, MAX_MESSAGE) || null;
}

function parseList(json: unknown): ListedRule[] | undefined {
  if (!Array.isArray(json) || !json.every(isObject)) return undefined;
  return json.map((rule) => ({
    uid: textOf(rule, "uid"),
    title: textOf(rule, "title"),
    folderUID: textOf(rule, "folderUID"),
    ruleGroup: textOf(rule, "ruleGroup"),
    labels: labelsOf(member(rule, "labels")),
    receiver: textOf(member(rule, "notification_settings"), "receiver") || null,
    stored: rule,
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
