/** Vercel, the hosting provider: builds and serves the projects whose deployments are watched. */
import { member } from "../../platform/http/answer.ts";
import { type CallOptions, type CallResult, callPeer } from "../../platform/http/call-peer.ts";
import { peerUrl } from "../../platform/http/url.ts";
import type { Secret } from "../../platform/secrets/secret.ts";
import { codeOfCall } from "../send-outcome.ts";
import { type DeployState, type ListedProject, readDeployments, readProjectsPage } from "./projects.ts";

/** Whether a project's newest finished deployment failed. */
export type ProjectDeploy = { name: string; failed: boolean };

/**
 * The deployments of the account.
 *
 * Shape: `projects` has those with a finished deployment, `total` is null when it is not known. `problem` is the code of
 *        what could not be read: without a page of the listing `projects` is empty, without one project's answer only
 *        that project is missing.
 */
export type DeployListing = {
  projects: ProjectDeploy[];
  total: number | null;
  problem: string | null;
};

/** How Vercel is called. */
export type VercelOptions = CallOptions & { baseUrl: URL; token: Secret; teamId: string | null };

/** Far more than any account has; ends a listing that has no end. */
const MAX_PAGES = 50;
/** A hundred projects with their settings are megabytes. */
const MAX_PAGE_BYTES = 32 * 1_048_576;
const UNREADABLE = "hosting_answer_unreadable";

/**
 * Reads whether the newest finished deployment of each project failed.
 *
 * Behaviour: reads all pages of the projects, which show each project's newest deployments. Only for projects that show
 *            none in a final state the deployments are read, all at the same time. Previews count as deployments.
 * Errors:    none thrown; `hosting_pagination_loop`, `hosting_no_projects` (a token without its team sees an empty
 *            account: unknown, not fine) and the codes of a call.
 * Source:    Vercel REST API, GET /v9/projects and GET /v6/deployments, read 2026-11-21.
 */
export async function listDeploys(options: VercelOptions): Promise<DeployListing> {
  const listed = await listProjects(options);
  if (typeof listed === "string") return { projects: [], total: null, problem: listed };
  const listing: DeployListing = { projects: [], total: listed.length, problem: null };
  const read = await Promise.all(listed.map((project) => deployOf(project, options)));
  for (const [at, { name }] of listed.entries()) {
    const { state, problem } = read[at]!;
    listing.problem ??= problem;
    if (state !== "none") listing.projects.push({ name, failed: state === "failed" });
  }
  return listing;
}

/** The number of projects that a token sees in the account; fails with the codes of `listDeploys` for its listing. */
export async function countVercelProjects(
  options: VercelOptions,
): Promise<{ status: "ok"; total: number } | { status: "failed"; code: string }> {
  const listed = await listProjects(options);
  if (typeof listed === "string") return { status: "failed", code: listed };
  return { status: "ok", total: listed.length };
}

/** The projects of all pages, or the code of what went wrong. */
async function listProjects(options: VercelOptions): Promise<ListedProject[] | string> {
  // By id: a project that changes while the pages are read may be on two of them.
  const projects = new Map<string, ListedProject>();
  let until: string | null = null;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const query: Record<string, string> = { limit: "100", ...(until === null ? {} : { until }) };
    const result = await call(options, ["v9", "projects"], query);
    if (result.status !== "answered") return codeOfCall("hosting", result);
    const read = readProjectsPage(result.answer.json);
    if (read === null) return UNREADABLE;
    for (const project of read.projects) if (!projects.has(project.id)) projects.set(project.id, project);
    until = read.next;
    if (until === null) return projects.size === 0 ? "hosting_no_projects" : [...projects.values()];
  }
  return "hosting_pagination_loop";
}

type Deploy = { state: DeployState; problem: string | null };

/** The state by the listing, where an empty list means never deployed, else by the project's own deployments. */
async function deployOf({ id, latest }: ListedProject, options: VercelOptions): Promise<Deploy> {
  const state = latest === undefined ? "none" : readDeployments(latest);
  const isListed = state !== "none" || (Array.isArray(latest) && latest.length === 0);
  if (isListed) return deployIn(state);
  const query = { projectId: id, state: "READY,ERROR", limit: "20" };
  const result = await call(options, ["v6", "deployments"], query);
  if (result.status !== "answered") return { state: "none", problem: codeOfCall("hosting", result) };
  return deployIn(readDeployments(member(result.answer.json, "deployments")));
}

function deployIn(state: DeployState | null): Deploy {
  return state === null ? { state: "none", problem: UNREADABLE } : { state, problem: null };
}

function call(
  { baseUrl, token, teamId, timeoutMs, signal, onCall }: VercelOptions,
  path: readonly string[],
  query: Record<string, string>,
): Promise<CallResult> {
  const url = peerUrl(baseUrl, path);
  const all = teamId === null ? query : { ...query, teamId };
  for (const [name, value] of Object.entries(all)) url?.searchParams.set(name, value);
  const headers = { authorization: `Bearer ${token.open()}` };
  const limits = { timeoutMs, maxAnswerBytes: MAX_PAGE_BYTES, signal };
  return callPeer({ peer: "hosting", method: "GET", url, headers, ...limits, onCall });
}
