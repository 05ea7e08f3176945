import { member } from "../../platform/http/answer.ts";

/** The newest deployment in a final state failed or is ready, or no deployment is in a final state. */
export type DeployState = "failed" | "ready" | "none";

/** The state of a project, and the states that the provider's documents do not name. */
export type ReadDeployments = { state: DeployState; unknownStates: string[] };

const FINAL: Readonly<Record<string, "failed" | "ready">> = { ERROR: "failed", READY: "ready" };
/** In progress, or ended by a decision of a person or the platform: the deployment before it counts. */
const PASSED_OVER = ["QUEUED", "INITIALIZING", "BUILDING", "CANCELED", "BLOCKED", "DELETED"];
/** A state that may be shown: one word. */
const STATE_WORD = /^[A-Z_]{1,40}$/;

/**
 * Reads a list of deployments in any order, from a project of the listing or from an answer of its own.
 *
 * Errors: null when it is not a list of deployments, each with its state and the time it was made.
 * Source: Vercel REST API, projects v9 and deployments v6: ready states; the order is not documented.
 */
export function readDeployments(value: unknown): ReadDeployments | null {
  if (!Array.isArray(value)) return null;
  const deployments = value.map(readDeployment);
  if (!deployments.every((deployment) => deployment !== null)) return null;
  const unknownStates = deployments
    .map(({ state }) => state)
    .filter((state) => FINAL[state] === undefined && !PASSED_OVER.includes(state));
  const [newest] = deployments
    .filter(({ state, isDeleted }) => Object.hasOwn(FINAL, state) && !isDeleted)
    // Made in the same millisecond: the failed one counts.
    .sort((a, b) => b.createdAt - a.createdAt || a.state.localeCompare(b.state));
  return {
    state: newest === undefined ? "none" : FINAL[newest.state]!,
    unknownStates: [...new Set(unknownStates.map((state) => (STATE_WORD.test(state) ? state : "?")))],
  };
}

type Deployment = { state: string; createdAt: number; isDeleted: boolean };

function readDeployment(value: unknown): Deployment | null {
  const state = member(value, "readyState") ?? member(value, "state");
  const createdAt = member(value, "createdAt") ?? member(value, "created");
  if (typeof state !== "string" || typeof createdAt !== "number") return null;
  return { state, createdAt, isDeleted: typeof member(value, "deletedAt") === "number" };
}
