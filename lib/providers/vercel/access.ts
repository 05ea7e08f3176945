import { type CallRecord, callPeer } from "../../platform/http/call-peer.ts";
import { peerUrl } from "../../platform/http/url.ts";
import type { Secret } from "../../platform/secrets/secret.ts";
import { codeOfCall } from "../send-outcome.ts";
import { readProjectsPage } from "./project.ts";

/**
 * Asks the hosting provider whether a token may list projects; null when it may and sees one, else a code.
 *
 * Errors: none thrown; `hosting_no_projects`, `hosting_answer_unreadable`, `hosting_http_<status>`, `hosting_timeout`.
 * Source: Vercel REST API, GET /v9/projects, read 2026-11-21.
 */
export async function checkVercelAccess(options: {
  baseUrl: URL;
  token: Secret;
  teamId: string | null;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  onCall?: ((record: CallRecord) => void) | undefined;
}): Promise<string | null> {
  const { baseUrl, token, teamId, timeoutMs, signal, onCall } = options;
  const url = peerUrl(baseUrl, ["v9", "projects"]);
  url?.searchParams.set("limit", "1");
  if (teamId !== null) url?.searchParams.set("teamId", teamId);
  const headers = { authorization: `Bearer ${token.open()}` };
  const result = await callPeer({ peer: "hosting", method: "GET", url, headers, timeoutMs, signal, onCall });
  if (result.status !== "answered") return codeOfCall("hosting", result);
  const page = readProjectsPage(result.answer.json);
  if (page === null) return "hosting_answer_unreadable";
  return page.projects.length === 0 ? "hosting_no_projects" : null;
}
