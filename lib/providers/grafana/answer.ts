import { member, type PeerAnswer } from "../../platform/http/answer.ts";
import type { CallResult } from "../../platform/http/call-peer.ts";
import { singleLine } from "../../text/single-line.ts";
import { codeOfCall } from "../send-outcome.ts";

/**
 * Why the platform did not do what was asked.
 *
 * Shape: `code` is `monitoring_…`; `message` is the platform's own sentence when it gave one that may be shown.
 */
export type PlatformProblem = { code: string; status: number | null; message: string | null };

/** What was read, null when the platform says that it does not exist; or why it could not be read. */
export type PlatformReading<T> =
  | { status: "ok"; value: T | null }
  | { status: "failed"; problem: PlatformProblem };

const MAX_MESSAGE = 300;

/**
 * The result of a reading call; `read` returns undefined for what it does not understand.
 *
 * Behaviour: a 404 means absence only when the platform itself can have sent it: with JSON or nothing as its body. A
 *            page of a proxy is a problem, whatever its status.
 */
export function readingOf<T>(result: CallResult, read: (json: unknown) => T | undefined): PlatformReading<T> {
  const { answer } = result;
  if (answer !== null && answer.text !== null) {
    if (answer.status === 404 && isOfPlatform(answer)) return { status: "ok", value: null };
    const value = answer.status === 200 ? read(answer.json) : undefined;
    if (value !== undefined) return { status: "ok", value };
  }
  return { status: "failed", problem: problemOf(result) };
}

/** Why a call failed; a success that cannot be understood is a failure too. */
export function problemOf(result: CallResult): PlatformProblem {
  const { answer } = result;
  const status = answer?.status ?? null;
  const isUnreadable =
    result.problem === null && answer !== null && (isSuccess(answer) || !isOfPlatform(answer));
  const said = isUnreadable && status !== null && status < 500 ? "monitoring_answer_unreadable" : null;
  return { code: said ?? codeOfCall("monitoring", result), status, message: messageOf(answer?.json) };
}

/** One text of the platform's JSON; empty for anything else. */
export function textOf(json: unknown, key: string): string {
  const text = member(json, key);
  return typeof text === "string" ? text : "";
}

function isSuccess({ status }: PeerAnswer): boolean {
  return status >= 200 && status <= 299;
}

function isOfPlatform({ text, json }: PeerAnswer): boolean {
  return json !== undefined || text === "";
}

function messageOf(json: unknown): string | null {
  const message = member(json, "message");
  if (typeof message !== "string" || /<[a-z!/]/i.test(message)) return null;
  return singleLine(message).slice(0, MAX_MESSAGE) || null;
}
