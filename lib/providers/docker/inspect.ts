import { member } from "../../platform/http/answer.ts";
import type { CallResult } from "../../platform/http/call-peer.ts";
import { codeOfCall } from "../send-outcome.ts";

/** The container that has exactly the name asked for, by its full id; or why there is none. */
export type NamedContainer =
  | { status: "ok"; id: string; isStopped: boolean }
  | { status: "failed"; code: string };

/**
 * Judges the inspection of a container by its name.
 *
 * Behaviour: the answer must carry the name itself, because the engine also takes the beginning of an id for a name.
 *            The container's environment in it is not kept.
 * Errors:    none thrown; the codes of `readContainerMemory`.
 */
export function namedContainer(inspected: CallResult, name: string): NamedContainer {
  if (inspected.status !== "answered") return { status: "failed", code: dockerFailure(inspected) };
  const { json } = inspected.answer;
  const [id, found] = [member(json, "Id"), member(json, "Name")];
  if (typeof id !== "string" || !/^[0-9a-f]{64}$/.test(id) || typeof found !== "string")
    return { status: "failed", code: "docker_answer_unreadable" };
  if (found !== `/${name}`) return { status: "failed", code: "docker_container_missing" };
  return { status: "ok", id, isStopped: member(member(json, "State"), "Running") === false };
}

/** The code for a call of the engine that brought no usable answer. */
export function dockerFailure(result: CallResult): string {
  if (result.answer?.status === 404) return "docker_container_missing";
  return result.problem === "connection_lost" ? "docker_unreachable" : codeOfCall("docker", result);
}
