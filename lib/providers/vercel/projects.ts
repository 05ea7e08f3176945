import { member } from "../../platform/http/answer.ts";

/** One project of the listing; `latest` are its newest deployments, undefined where the listing leaves them out. */
export type ListedProject = { id: string; name: string; latest: unknown };

/** Whether a project's newest deployment in a final state failed. */
export type DeployState = "failed" | "ready" | "none";

/** Any other state is in progress, or a decision of a person or of Vercel: the deployment before it counts. */
const FINAL: Readonly<Record<string, "failed" | "ready">> = { ERROR: "failed", READY: "ready" };

/**
 * Reads one page of the projects listing; `next` is opaque and null on the last page.
 *
 * Errors: null when the answer is not such a page.
 * Source: Vercel REST API, GET /v9/projects; the SDK's type also allows a bare array.
 */
export function readProjectsPage(json: unknown): { projects: ListedProject[]; next: string | null } | null {
  const rows = Array.isArray(json) ? json : member(json, "projects");
  const next = member(member(json, "pagination"), "next") ?? null;
  if (!Array.isArray(rows) || !(next === null || typeof next === "string" || typeof next === "number"))
    return null;
  const projects: ListedProject[] = [];
  for (const row of rows) {
    const [id, name] = [member(row, "id"), member(row, "name")];
    if (typeof id !== "string" || typeof name !== "string" || id === "" || name.trim() === "") return null;
    projects.push({ id, name, latest: member(row, "latestDeployments") ?? undefined });
  }
  return { projects, next: next === null ? null : String(next) };
}

/**
 * Reads a list of deployments in any order, from a project of the listing or from an answer about one project.
 *
 * Errors: null when it is not a list of deployments, each with its state and creation time.
 * Source: Vercel REST API, projects v9 and deployments v6: ready states; the order is not documented.
 */
export function readDeployments(value: unknown): DeployState | null {
  if (!Array.isArray(value)) return null;
  const final: { state: string; createdAt: number }[] = [];
  for (const row of value) {
    const state = member(row, "readyState") ?? member(row, "state");
    const createdAt = member(row, "createdAt") ?? member(row, "created");
    if (typeof state !== "string" || typeof createdAt !== "number") return null;
    const isDeleted = typeof member(row, "deletedAt") === "number";
    if (Object.hasOwn(FINAL, state) && !isDeleted) final.push({ state, createdAt });
  }
  // Created in the same millisecond: the failed one counts.
  const [newest] = final.sort((a, b) => b.createdAt - a.createdAt || a.state.localeCompare(b.state));
  return newest === undefined ? "none" : FINAL[newest.state]!;
}
