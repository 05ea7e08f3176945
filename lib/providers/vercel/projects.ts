import { member } from "../../platform/http/answer.ts";

/**
 * The state of a project by its deployments: the newest one in a final state failed or is ready, or none is final.
 *
 * Shape: `unknownStates` are states that Vercel's documents do not name.
 */
export type DeployState = { state: "failed" | "ready" | "none"; unknownStates: string[] };

/**
 * One project of the listing.
 *
 * Shape: `deploys` is the state by the deployments in the listing; null when they are not there, `unreadable` when they
 *        have another form. `isEmpty`: the listing shows an empty list, so it was never deployed.
 */
export type ListedProject = {
  id: string;
  name: string;
  deploys: DeployState | "unreadable" | null;
  isEmpty: boolean;
};

/** One page of the listing; `next` is opaque and null on the last page; `unnamed` counts entries without id or name. */
export type ProjectsPage = { projects: ListedProject[]; next: string | null; unnamed: number };

const FINAL: Readonly<Record<string, "failed" | "ready">> = { ERROR: "failed", READY: "ready" };
/** In progress, or ended by a decision of a person or of Vercel: the deployment before it counts. */
const PASSED_OVER = ["QUEUED", "INITIALIZING", "BUILDING", "CANCELED", "BLOCKED", "DELETED"];
/** A state that may be shown: one word. */
const STATE_WORD = /^[A-Z_]{1,40}$/;

/**
 * Reads one page of the projects listing.
 *
 * Errors: null when the answer is not such a page.
 * Source: Vercel REST API, GET /v9/projects; the SDK's type also allows a bare array.
 */
export function readProjectsPage(json: unknown): ProjectsPage | null {
  const rows = Array.isArray(json) ? json : member(json, "projects");
  const next = member(member(json, "pagination"), "next") ?? null;
  if (!Array.isArray(rows) || !(next === null || typeof next === "string" || typeof next === "number"))
    return null;
  const projects = rows.map(readProject).filter((project) => project !== null);
  return { projects, next: next === null ? null : String(next), unnamed: rows.length - projects.length };
}

function readProject(row: unknown): ListedProject | null {
  const [id, name] = [member(row, "id"), member(row, "name")];
  if (typeof id !== "string" || typeof name !== "string" || id === "" || name.trim() === "") return null;
  const latest = member(row, "latestDeployments") ?? null;
  const deploys = latest === null ? null : (readDeployments(latest) ?? "unreadable");
  return { id, name, deploys, isEmpty: Array.isArray(latest) && latest.length === 0 };
}

/**
 * Reads a list of deployments in any order, from a project of the listing or from an answer about one project.
 *
 * Errors: null when it is not a list of deployments, each with its state and creation time.
 * Source: Vercel REST API, projects v9 and deployments v6: ready states; the order is not documented.
 */
export function readDeployments(value: unknown): DeployState | null {
  if (!Array.isArray(value)) return null;
  const deployments = value.map((row) => ({
    state: member(row, "readyState") ?? member(row, "state"),
    createdAt: member(row, "createdAt") ?? member(row, "created"),
    isDeleted: typeof member(row, "deletedAt") === "number",
  }));
  if (!deployments.every(isDeployment)) return null;
  const unknown = deployments
    .map(({ state }) => state)
    .filter((state) => !Object.hasOwn(FINAL, state) && !PASSED_OVER.includes(state));
  const [newest] = deployments
    .filter(({ state, isDeleted }) => Object.hasOwn(FINAL, state) && !isDeleted)
    // Created in the same millisecond: the failed one counts.
    .sort((a, b) => b.createdAt - a.createdAt || a.state.localeCompare(b.state));
  const shown = unknown.map((state) => (STATE_WORD.test(state) ? state : "?"));
  return { state: FINAL[newest?.state ?? ""] ?? "none", unknownStates: [...new Set(shown)] };
}

type Deployment = { state: string; createdAt: number; isDeleted: boolean };

function isDeployment(row: { state: unknown; createdAt: unknown; isDeleted: boolean }): row is Deployment {
  return typeof row.state === "string" && typeof row.createdAt === "number";
}
