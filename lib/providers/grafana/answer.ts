import { member } from "../../platform/http/answer.ts";
import type { CallResult } from "../../platform/http/call-peer.ts";
import { redact } from "../../platform/secrets/redact.ts";
import { singleLine } from "../../text/single-line.ts";
import { codeOfCall } from "../send-outcome.ts";

/**
 * Why a call to Grafana failed.
 *
 * Shape: `code` is `monitoring_…`; `message` is Grafana's own sentence when it gave one that may be shown.
 */
export type GrafanaProblem = { code: string; status: number | null; message: string | null };

/** What was read, null when Grafana answers that it does not exist; or why it could not be read. */
export type GrafanaReading<T> =
  | { status: "ok"; value: T | null }
  | { status: "failed"; problem: GrafanaProblem };

const MAX_MESSAGE = 300;

/**
 * The result of a reading call; `read` returns undefined for what it does not understand.
 *
 * Behaviour: a 404 means absence only with JSON or nothing as its body; a page of a proxy is a problem, whatever its
 *            status.
 */
export function readingOf<T>(result: CallResult, read: (json: unknown) => T | undefined): GrafanaReading<T> {
  const { answer } = result;
  if (answer?.status === 404 && isOfGrafana(answer)) return { status: "ok", value: null };
  const value = answer?.status === 200 && answer.text !== null ? read(answer.json) : undefined;
  return value === undefined ? { status: "failed", problem: problemOf(result) } : { status: "ok", value };
}

/** Why a call failed; a success that cannot be understood is a failure as well. */
export function problemOf(result: CallResult): GrafanaProblem {
  const { answer, problem } = result;
  const status = answer?.status ?? null;
  const isUnreadable =
    problem === null &&
    answer !== null &&
    answer.status < 500 &&
    (answer.status <= 299 || !isOfGrafana(answer));
  const code = isUnreadable ? "monitoring_answer_unreadable" : codeOfCall("monitoring", result);
  return { code, status, message: messageOf(answer?.json) };
}

/** A text of Grafana's JSON; empty for anything else. */
export function textOf(json: unknown, key: string): string {
  const text = member(json, key);
  return typeof text === "string" ? text : "";
}

/** Whether an answer can be Grafana's own: it has JSON or nothing as its body. */
function isOfGrafana({ text, json }: { text: string | null; json: unknown }): boolean {
  return json !== undefined || text === "";
}

/** Grafana's sentence; a validation error may quote a secret that was sent. */
function messageOf(json: unknown): string | null {
  const message = textOf(json, "message");
  if (/<[a-z!/]/i.test(message)) return null;
  return redact(singleLine(message)).slice(0, MAX_MESSAGE) || null;
}
