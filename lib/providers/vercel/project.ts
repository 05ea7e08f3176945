import { member } from "../../platform/http/answer.ts";
import { type ReadDeployments, readDeployments } from "./deployment.ts";

/**
 * One project of the listing.
 *
 * Shape: `deployments` are those embedded in the listing; null when they are not there, `unreadable` when they are
 *        something else. `hasNoneAtAll`: the listing shows an empty list, so it was never deployed.
 */
export type ListedProject = {
  id: string;
  name: string;
  deployments: ReadDeployments | "unreadable" | null;
  hasNoneAtAll: boolean;
};

/** One page of the listing; `next` is opaque and null on the last page; `unnamed` counts entries without id or name. */
export type ProjectsPage = { projects: ListedProject[]; next: string | null; unnamed: number };

/**
 * Reads one page of the projects listing.
 *
 * Errors: null when the answer is not such a page.
 * Source: Vercel REST API, GET /v9/projects; the SDK's type also allows a bare array.
 */
export function readProjectsPage(json: unknown): ProjectsPage | null {
  const rows = Array.isArray(json) ? json : member(json, "projects");
  const next = readNext(member(json, "pagination"));
  if (!Array.isArray(rows) || next === undefined) return null;
  const projects = rows.map(readProject).filter((project) => project !== null);
  return { projects, next, unnamed: rows.length - projects.length };
}

function readNext(pagination: unknown): string | null | undefined {
  const next = member(pagination, "next") ?? null;
  if (next === null) return null;
  return typeof next === "string" || typeof next === "number" ? String(next) : undefined;
}

function readProject(row: unknown): ListedProject | null {
  const [id, name] = [member(row, "id"), member(row, "name")];
  if (typeof id !== "string" || typeof name !== "string" || id === "" || name.trim() === "") return null;
  const latest = member(row, "latestDeployments") ?? null;
  return {
    id,
    name,
    deployments: latest === null ? null : (readDeployments(latest) ?? "unreadable"),
    hasNoneAtAll: Array.isArray(latest) && latest.length === 0,
  };
}
