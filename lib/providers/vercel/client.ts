/** Vercel, the hosting provider: builds and serves the projects whose deployments are watched. */
import { member } from "../../platform/http/answer.ts";
import { type CallRecord, type CallResult, callPeer } from "../../platform/http/call-peer.ts";
import { peerUrl } from "../../platform/http/url.ts";
import type { Secret } from "../../platform/secrets/secret.ts";
import { codeOfCall } from "../send-outcome.ts";
import { type ListedProject, readDeployments, readProjectsPage } from "./projects.ts";

/** Whether a project's newest finished deployment failed. */
export type ProjectDeploy = { name: string; failed: boolean };

/**
 * The deployments of the account.
 *
 * Shape: `projects` has those with a finished deployment, `total` is how many the account has, null when that is not
 *        known. `problem` is the code of what could not be read: without a page of the listing `projects` is empty,
 *        without one project's answer only that project is missing. `unknownStates` are states that Vercel's documents
 *        do not name.
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

const PAGE_SIZE = 100;
/** Far more than any account has; ends a listing that has no end. */
const MAX_PAGES = 200;
/** A hundred projects with their settings are megabytes. */
const MAX_PAGE_BYTES = 32 * 1_048_576;

/**
 * Reads whether the newest finished deployment of each project failed.
 *
 * Behaviour: reads all pages of the projects, which show each project's newest deployments. Only for projects that show
 *            none in a final state the deployments are read, all at the same time. Previews count as deployments.
 * Errors:    none thrown; `hosting_pagination_loop`, `hosting_answer_unreadable`, `hosting_no_projects` (a token
 *            without its team sees an empty account: unknown, not fine), `hosting_http_<status>`, `hosting_timeout` and
 *            the like.
 * Source:    Vercel REST API, GET /v9/projects and GET /v6/deployments, read 2026-11-21.
 */
export async function listDeploys(options: VercelOptions): Promise<DeployListing> {
  const listed = await listProjects(options);
  if (listed.status !== "ok") return { projects: [], total: null, problem: listed.code, unknownStates: [] };
  const settled = await Promise.all(
    listed.projects.map(async (project) => ({ name: project.name, ...(await stateOf(project, options)) })),
  );
  const problem = settled.find(({ problem }) => problem !== null)?.problem;
  return {
    projects: settled.flatMap(({ name, state }) =>
      state === "none" ? [] : [{ name, failed: state === "failed" }],
    ),
    total: listed.projects.length + listed.unnamed,
    problem: problem ?? (listed.unnamed > 0 ? "hosting_answer_unreadable" : null),
    unknownStates: [...new Set(settled.flatMap(({ unknownStates }) => unknownStates))],
  };
}

/**
 * The number of projects that a token sees in the account.
 *
 * Errors: none thrown; the codes of `listDeploys` for its listing.
 */
export async function countVercelProjects(
  options: VercelOptions,
): Promise<{ status: "ok"; total: number } | { status: "failed"; code: string }> {
  const listed = await listProjects(options);
  return listed.status === "ok" ? { status: "ok", total: listed.projects.length + listed.unnamed } : listed;
}

type Listed =
  | { status: "ok"; projects: ListedProject[]; unnamed: number }
  | { status: "failed"; code: string };

async function listProjects(options: VercelOptions): Promise<Listed> {
  // By id: a project that changes while the pages are read may be on two of them.
  const projects = new Map<string, ListedProject>();
  const read = new Set<string | null>();
  let unnamed = 0;
  let until: string | null = null;
  do {
    if (read.has(until) || read.size > MAX_PAGES) return failed("hosting_pagination_loop");
    read.add(until);
    const query: Record<string, string> = { limit: String(PAGE_SIZE), ...(until === null ? {} : { until }) };
    const result = await call(options, ["v9", "projects"], query);
    if (result.status !== "answered") return failed(codeOfCall("hosting", result));
    const page = readProjectsPage(result.answer.json);
    if (page === null) return failed("hosting_answer_unreadable");
    for (const project of page.projects) if (!projects.has(project.id)) projects.set(project.id, project);
    unnamed += page.unnamed;
    until = page.next;
  } while (until !== null);
  if (projects.size + unnamed === 0) return failed("hosting_no_projects");
  return { status: "ok", projects: [...projects.values()], unnamed };
}

function failed(code: string): Listed {
  return { status: "failed", code };
}

type ProjectState = { state: "failed" | "ready" | "none"; problem: string | null; unknownStates: string[] };

/** The state by the listing, else by the project's own deployments. */
async function stateOf(
  { id, deploys, isEmpty }: ListedProject,
  options: VercelOptions,
): Promise<ProjectState> {
  const none = (problem: string | null): ProjectState => ({ state: "none", problem, unknownStates: [] });
  if (deploys === "unreadable") return none("hosting_answer_unreadable");
  if (deploys !== null && deploys.state !== "none") return { ...deploys, problem: null };
  const query = { projectId: id, state: "READY,ERROR", limit: "20" };
  const result = await call(options, ["v6", "deployments"], query);
  // Without this answer an empty list in the listing still means: never deployed.
  if (result.status !== "answered") return none(isEmpty ? null : codeOfCall("hosting", result));
  const rows = member(result.answer.json, "deployments");
  const own = Array.isArray(rows) ? rows.filter((row) => (member(row, "projectId") ?? id) === id) : rows;
  const read = readDeployments(own);
  return read === null ? none("hosting_answer_unreadable") : { ...read, problem: null };
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
