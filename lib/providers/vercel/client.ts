/** Vercel, the hosting provider: builds and serves the projects whose deployments are watched. */
import { member } from "../../platform/http/answer.ts";
import { type CallRecord, type CallResult, callPeer } from "../../platform/http/call-peer.ts";
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
 *        that project is missing. `unknownStates` are states that Vercel's documents do not name.
 */
export type DeployListing = {
  projects: ProjectDeploy[];
  total: number | null;
  problem: string | null;
  unknownStates: string[];
};

/** How Vercel is called. */
export type VercelOptions = {
  baseUrl: URL;
  token: Secret;
  teamId: string | null;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  onCall?: ((record: CallRecord) => void) | undefined;
};

/** Far more than any account has; ends a listing that has no end. */
const MAX_PAGES = 200;
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
  if (typeof listed === "string") return { projects: [], total: null, problem: listed, unknownStates: [] };
  const listing = { projects: [] as ProjectDeploy[], total: listed.length, problem: null as string | null };
  const unknownStates = new Set<string>();
  const read = await Promise.all(listed.map((project) => deploysOf(project, options)));
  for (const [at, deploys] of read.entries()) {
    if (typeof deploys === "string") {
      listing.problem ??= deploys;
      continue;
    }
    for (const state of deploys.unknownStates) unknownStates.add(state);
    const { name } = listed[at] as ListedProject;
    if (deploys.state !== "none") listing.projects.push({ name, failed: deploys.state === "failed" });
  }
  return { ...listing, unknownStates: [...unknownStates] };
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
  const read = new Set<string | null>();
  let until: string | null = null;
  do {
    if (read.has(until) || read.size > MAX_PAGES) return "hosting_pagination_loop";
    read.add(until);
    const query: Record<string, string> = { limit: "100", ...(until === null ? {} : { until }) };
    const result = await call(options, ["v9", "projects"], query);
    if (result.status !== "answered") return codeOfCall("hosting", result);
    const page = readProjectsPage(result.answer.json);
    if (page === null) return UNREADABLE;
    for (const project of page.projects) if (!projects.has(project.id)) projects.set(project.id, project);
    until = page.next;
  } while (until !== null);
  return projects.size === 0 ? "hosting_no_projects" : [...projects.values()];
}

/** The state by the listing, where an empty list means never deployed, else by the project's own deployments. */
async function deploysOf(
  { id, latest }: ListedProject,
  options: VercelOptions,
): Promise<DeployState | string> {
  const listed = latest === undefined ? undefined : readDeployments(latest);
  if (listed === null) return UNREADABLE;
  if (listed !== undefined && (listed.state !== "none" || (latest as unknown[]).length === 0)) return listed;
  const query = { projectId: id, state: "READY,ERROR", limit: "20" };
  const result = await call(options, ["v6", "deployments"], query);
  if (result.status !== "answered") return codeOfCall("hosting", result);
  return readDeployments(member(result.answer.json, "deployments")) ?? UNREADABLE;
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
