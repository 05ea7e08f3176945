import type { CallResult } from "../../platform/http/call-peer.ts";
import { codeOfCall } from "../send-outcome.ts";

/** The code for a call of the engine without an answer that can be used. */
export function dockerFailure(result: CallResult): string {
  if (result.answer?.status === 404) return "docker_container_missing";
  return result.problem === "connection_lost" ? "docker_unreachable" : codeOfCall("docker", result);
}
