import { member, type PeerAnswer } from "../../platform/http/answer.ts";
import type { CallResult } from "../../platform/http/call-peer.ts";
import { dockerFailure, type NamedContainer } from "./inspect.ts";

/** The memory of a running container, or why it is not known. */
export type ContainerMemory = { status: "ok"; bytes: number } | { status: "failed"; code: string };

/** The time that an engine gives when it has not measured. */
const NEVER = "0001-01-01T00:00:00Z";

/**
 * The memory that a single sample shows, as `docker stats` computes it.
 *
 * Behaviour: the sample's own name counts where it has one; else `named` must be the container, and the sample must
 *            have been asked for so that no other could be meant. A container that does not run is never zero: some
 *            engines send zeros for it, some nothing, some an error.
 * Errors:    none thrown; the codes of `readContainerMemory`.
 * Source:    docker/cli cli/command/container/stats_helpers.go, read 2026-11-21.
 */
export function memoryOf(sampled: CallResult, named: NamedContainer, container: string): ContainerMemory {
  if (sampled.status !== "answered") return { status: "failed", code: unanswered(sampled, named) };
  const stranger = strangerIn(sampled.answer, named, container);
  return stranger === null ? memoryIn(sampled.answer.json, named) : { status: "failed", code: stranger };
}

function unanswered(sampled: CallResult, named: NamedContainer): string {
  const isAnError = sampled.answer !== null && sampled.answer.status !== 404;
  return isAnError && isStopped(named) ? "docker_container_not_running" : dockerFailure(sampled);
}

function isStopped(named: NamedContainer): boolean {
  return named.status === "ok" && named.isStopped;
}

/** Why the sample may be another container's; null when it is proved to be this one's. */
function strangerIn({ text, json }: PeerAnswer, named: NamedContainer, container: string): string | null {
  // A container that ends while it is measured has an answer without a body.
  if (text === "") return named.status === "ok" ? "docker_container_not_running" : named.code;
  if (typeof json !== "object" || json === null) return "docker_answer_unreadable";
  const own = member(json, "name");
  if (typeof own === "string")
    return own.replace(/^\//, "") === container ? null : "docker_container_missing";
  if (named.status !== "ok") return named.code;
  const id = member(json, "id") ?? named.id;
  return id === named.id ? null : "docker_container_missing";
}

function memoryIn(sample: unknown, named: NamedContainer): ContainerMemory {
  const memory = member(sample, "memory_stats") ?? {};
  const usage = member(memory, "usage");
  if (usage === undefined || usage === 0) return { status: "failed", code: withoutMemory(sample, named) };
  if (!isCount(usage)) return { status: "failed", code: "docker_answer_unreadable" };
  return { status: "ok", bytes: usage - inactiveFile(member(memory, "stats"), usage) };
}

// Engines up to 28.5.2 say 200 before they measure, and then perhaps only `message`. A kernel that counts no memory
// leaves it out for a container that runs.
function withoutMemory(sample: unknown, named: NamedContainer): string {
  const isNotMeasured = member(sample, "read") === NEVER || isStopped(named);
  return isNotMeasured ? "docker_container_not_running" : "docker_memory_unknown";
}

// Version 1 of the control groups has both keys, version 2 the second alone.
function inactiveFile(stats: unknown, usage: number): number {
  const keys = ["total_inactive_file", "inactive_file"];
  const found = keys.map((key) => member(stats, key)).find((value) => isCount(value) && value < usage);
  return isCount(found) ? found : 0;
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}
