/** What the application answers to the weekly run, and what each answer becomes. */
import type { AnalysisOutcome, EditorialOutcome } from "../../lib/providers/application/client.ts";
import type { Reach } from "../../lib/providers/application/reach.ts";
import { cases, page, type Row } from "./answer-case.ts";

const ok: AnalysisOutcome = { status: "ok" };
const mayHeal = (code: string, retryAfterMs: number | null = null): AnalysisOutcome => ({
  status: "failed",
  code,
  failure: "may_heal",
  retryAfterMs,
});
const failedFor = (status: number, failure: "refused" | "lasting"): AnalysisOutcome => ({
  status: "failed",
  code: `APP_HTTP_${status}`,
  failure,
  retryAfterMs: null,
});
const ERROR = { error: "ana@client.example" };
const text = (body: string, type = "text/plain") => ({
  status: 200,
  text: body,
  headers: { "content-type": type },
});
const PAGE = mayHeal("APP_ANSWER_INVALID");

/** Answers to the call that analyses one connection's week. */
export const ANALYSIS_ANSWERS = cases<AnalysisOutcome>([
  ["200", { status: 200, json: { ok: true } }, ok],
  ["204 without a body", { status: 204 }, ok],
  ...["", "ok", "null", '"<html>"', "< 5", '{"html":"<p>"}'].map(
    (body): Row<AnalysisOutcome> => [`200 with ${JSON.stringify(body)}`, text(body), ok],
  ),
  ["4 MiB of blanks", "huge", ok],
  ["half an answer, then closed", "break_body", ok],
  ["401 for the secret", { status: 401, json: ERROR }, failedFor(401, "refused"), "run", "e2e"],
  ["409, not Monday", { status: 409, json: ERROR }, failedFor(409, "refused"), "run", "e2e"],
  ["404", { status: 404, json: ERROR }, failedFor(404, "lasting"), "run"],
  ...[302, 400, 403, 418, 422].map(
    (status): Row<AnalysisOutcome> => [`${status}`, { status, json: ERROR }, failedFor(status, "lasting")],
  ),
  ["404 with a page", page(404), failedFor(404, "lasting")],
  ["503", { status: 503, json: ERROR }, mayHeal("APP_HTTP_503"), "run"],
  ...[408, 502, 504, 599].map(
    (status): Row<AnalysisOutcome> => [`${status}`, { status, json: ERROR }, mayHeal(`APP_HTTP_${status}`)],
  ),
  ["500 with a page", page(500), mayHeal("APP_HTTP_500"), "e2e"],
  ["429", { status: 429 }, mayHeal("APP_HTTP_429", 1_000)],
  ["429 for a minute", { status: 429, headers: { "retry-after": "60" } }, mayHeal("APP_HTTP_429", 60_000)],
  ["200 with a page", page(200), PAGE, "run", "e2e"],
  ["JSON that calls itself a page", text('{"ok":true}', "text/html; charset=utf-8"), PAGE],
  ["nothing that calls itself a page", text("", "Text/HTML"), PAGE],
  ["a page of the older kind", text("", "application/xhtml+xml"), PAGE],
  ["a page that calls itself JSON", text("<!DOCTYPE html><html>", "application/json"), PAGE],
  ["a page after blanks and a byte order mark", text("\uFEFF \r\n\t<html>"), PAGE],
  ["a page that begins with a comment", text("<!-- served by the proxy --><html>"), PAGE],
  ["half an answer, then silence", "stall_body", mayHeal("APP_TIMEOUT")],
  ["no answer", "hang", mayHeal("APP_TIMEOUT"), "run"],
  ["closed after the request", "drop", mayHeal("APP_UNREACHABLE"), "run"],
  ["closed before the request was read", "drop_unread", mayHeal("APP_UNREACHABLE")],
  ["an answer that is not HTTP", "not_http", mayHeal("APP_UNREACHABLE")],
  ["nobody listens", "nobody_listens", mayHeal("APP_UNREACHABLE"), "e2e"],
]);

const worker = (code: string): EditorialOutcome => ({ status: "failed", code: `WORKER_${code}` });

/** Answers to a call of the editorial route that are no answer of it; what it does answer is in its client's test. */
export const EDITORIAL_ANSWERS = cases<EditorialOutcome>([
  ["401", { status: 401, json: ERROR }, worker("HTTP_401"), "run"],
  ...[302, 400, 409, 429, 500, 503].map(
    (status): Row<EditorialOutcome> => [
      `${status}`,
      { status, json: { truncated: false } },
      worker(`HTTP_${status}`),
    ],
  ),
  ["a page", "not_json", worker("ANSWER_INVALID"), "run"],
  ["4 MiB of blanks", "huge", worker("ANSWER_INVALID")],
  ["no answer", "hang", worker("TIMEOUT"), "run"],
  ["half an answer, then silence", "stall_body", worker("TIMEOUT")],
  ["half an answer, then closed", "break_body", worker("UNREACHABLE")],
  ["closed after the request", "drop", worker("UNREACHABLE"), "run"],
  ["nobody listens", "nobody_listens", worker("UNREACHABLE")],
]);

const answered: Reach = { status: "answered" };
const unreachable: Reach = { status: "failed", code: "APP_UNREACHABLE" };

/** Answers at the application's address itself: whether there is one is all that is asked. */
export const HOME_ANSWERS = cases<Reach>([
  ...[200, 204, 301, 307, 400, 401, 403, 404, 409, 429, 500, 502, 503].map(
    (status): Row<Reach> => [`${status}`, { status }, answered],
  ),
  ["503 with a page", page(503), answered, "doctor"],
  ["a page", "not_json", answered],
  ["4 MiB of blanks", "huge", answered],
  ["4 MiB of blanks, compressed", "bomb", answered],
  ["half an answer, then closed", "break_body", answered],
  ["half an answer, then silence", "stall_body", answered],
  ["no answer", "hang", { ...unreachable, cause: "APP_TIMEOUT" }],
  ["closed after the request", "drop", unreachable],
  ["an answer that is not HTTP", "not_http", unreachable],
  ["nobody listens", "nobody_listens", unreachable, "doctor"],
]);
