/** The hosting provider, Vercel: builds and serves the projects whose deployments are watched. */
import { member } from "../../platform/http/answer.ts";
import { type CallRecord, type CallResult, callPeer } from "../../platform/http/call-peer.ts";
import { peerUrl } from "../../platform/http/url.ts";
import type { Secret } from "../../platform/secrets/secret.ts";
import { codeOfCall } from "../send-outcome.ts";
import { readDeployments } from "./deployment.ts";
import { type ListedProject, readProjectsPage } from "./project.ts";

/** Whether a project's newest finished deployment failed. */
export type ProjectDeploy = { name: string; failed: boolean };

/**
 * The deployments of the account.
 *
 * Shape: `projects` has those with a finished deployment, `total` is how many the account has, null when that is not
 *        known. `problem` is the code of what could not be read: without a page of the listing `projects` is empty,
 *        without one project's answer only that project is missing. `unknownStates` are states that are not in our
 *        table.
 */
export type DeployListing = {
  projects: ProjectDeploy[];
  total: number | null;
  problem: string | null;
  unknownStates: string[];
};

/** How the hosting provider is called. */
export type VercelOptions = {
  baseUrl: URL;
  token: Secret;
  teamId: string | null;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  onCall?: ((record: CallRecord) => void) | undefined;
};

const PAGE_SIZE = 100;
/** Far more than any account has; ends a listing that has no end. */
const MAX_PAGES = 200;
/** A hundred projects with their settings are megabytes. */
const MAX_PAGE_BYTES = 32 * 1_048_576;

/**
 * Reads whether the newest finished deployment of each project failed.
 *
 * Behaviour: reads all pages of the projects, which show each project's newest deployments. Only for projects that show
 *            none in a final state the deployments are asked for, all at once. Previews count as deployments.
 * Errors:    none thrown; `hosting_pagination_loop`, `hosting_answer_unreadable`, `hosting_no_projects` (a token
 *            without its team sees an empty account: unknown, not fine), `hosting_http_<status>`, `hosting_timeout` and
 *            the like.
 * Source:    Vercel REST API, GET /v9/projects and GET /v6/deployments, read 2026-11-21.
 */
export async function listDeploys(options: VercelOptions): Promise<DeployListing> {
  const get = getter(options);
  const listed = await listProjects(get);
  if (listed.status !== "ok") return { projects: [], total: null, problem: listed.code, unknownStates: [] };
  const settled = await Promise.all(listed.projects.map((project) => settle(get, project)));
  const problems = settled.map(({ problem }) => problem).filter((problem) => problem !== null);
  return {
    projects: settled.flatMap(({ failed, project: { name } }) => (failed === null ? [] : [{ name, failed }])),
    total: listed.projects.length + listed.unnamed,
    problem: problems[0] ?? (listed.unnamed > 0 ? "hosting_answer_unreadable" : null),
    unknownStates: [...new Set(settled.flatMap(({ unknownStates }) => unknownStates))],
  };
}

/**
 * How many projects a token sees in the account.
 *
 * Errors: none thrown; the codes of `listDeploys` for its listing.
 */
export async function countVercelProjects(
  options: VercelOptions,
): Promise<{ status: "ok"; total: number } | { status: "failed"; code: string }> {
  const listed = await listProjects(getter(options));
  if (listed.status !== "ok") return listed;
  return { status: "ok", total: listed.projects.length + listed.unnamed };
}

type Get = (path: readonly string[], query: Record<string, string>) => Promise<CallResult>;

function getter({ baseUrl, token, teamId, timeoutMs, signal, onCall }: VercelOptions): Get {
  return (path, query) => {
    const url = peerUrl(baseUrl, path);
    const all = teamId === null ? query : { ...query, teamId };
    for (const [name, value] of Object.entries(all)) url?.searchParams.set(name, value);
    const headers = { authorization: `Bearer ${token.open()}` };
    const limits = { timeoutMs, maxAnswerBytes: MAX_PAGE_BYTES, signal };
    return callPeer({ peer: "hosting", method: "GET", url, headers, ...limits, onCall });
  };
}

type Listed =
  | { status: "ok"; projects: ListedProject[]; unnamed: number }
  | { status: "failed"; code: string };

async function listProjects(get: Get): Promise<Listed> {
  // By id: a project that changes while the pages are read may be on two of them.
  const projects = new Map<string, ListedProject>();
  const asked = new Set<string>();
  let unnamed = 0;
  let until: string | null = null;
  do {
    const query: Record<string, string> = { limit: String(PAGE_SIZE), ...(until === null ? {} : { until }) };
    const result = await get(["v9", "projects"], query);
    if (result.status !== "answered") return { status: "failed", code: codeOfCall("hosting", result) };
    const page = readProjectsPage(result.answer.json);
    if (page === null) return { status: "failed", code: "hosting_answer_unreadable" };
    for (const project of page.projects) if (!projects.has(project.id)) projects.set(project.id, project);
    unnamed += page.unnamed;
    until = page.next;
    if (until !== null && (asked.has(until) || asked.size >= MAX_PAGES))
      return { status: "failed", code: "hosting_pagination_loop" };
    if (until !== null) asked.add(until);
  } while (until !== null);
  if (projects.size + unnamed === 0) return { status: "failed", code: "hosting_no_projects" };
  return { status: "ok", projects: [...projects.values()], unnamed };
}

type Settled = {
  project: ListedProject;
  failed: boolean | null;
  problem: string | null;
  unknownStates: string[];
};

async function settle(get: Get, project: ListedProject): Promise<Settled> {
  const { deployments, hasNoneAtAll } = project;
  const unknown = (problem: string | null) => ({ project, failed: null, problem, unknownStates: [] });
  if (deployments === "unreadable") return unknown("hosting_answer_unreadable");
  if (deployments !== null && deployments.state !== "none")
    return {
      project,
      failed: deployments.state === "failed",
      problem: null,
      unknownStates: deployments.unknownStates,
    };
  const result = await get(["v6", "deployments"], {
    projectId: project.id,
    state: "READY,ERROR",
    limit: "20",
  });
  // Without this answer an empty list in the listing still means: never deployed.
  if (result.status !== "answered") return unknown(hasNoneAtAll ? null : codeOfCall("hosting", result));
  const rows = member(result.answer.json, "deployments");
  const own = Array.isArray(rows) ? rows.filter((row) => isOf(row, project)) : rows;
  const read = readDeployments(own);
  if (read === null) return unknown("hosting_answer_unreadable");
  const failed = read.state === "none" ? null : read.state === "failed";
  return { project, failed, problem: null, unknownStates: read.unknownStates };
}

function isOf(row: unknown, { id }: ListedProject): boolean {
  return (member(row, "projectId") ?? id) === id;
}
