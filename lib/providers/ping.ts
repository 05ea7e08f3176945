import { callPeer } from "../platform/http/call-peer.ts";
import type { Secret } from "../platform/secrets/secret.ts";

/** The outcome of a ping; `code` is a word of ours or a status, never a part of the address. */
export type PingOutcome = { status: "sent" } | { status: "failed"; code: string };

/** Tells that all is well, or that it is not; never throws. */
export type Ping = (isWell: boolean, signal?: AbortSignal) => Promise<PingOutcome>;

/** Longest time of one ping. */
const PING_TIMEOUT_MS = 10_000;

/**
 * Pings a check as healthchecks.io and similar services expect it: a GET when all is well, one with `/fail`
 * appended when it is not.
 *
 * Behaviour: the address is the secret by which the check knows its sender, so nothing of it goes into a log. A
 *            query stays where it is.
 * Source:    healthchecks.io, Pinging API, Success and Failure, read 2026-11-22.
 */
export function pingOf(address: Secret, timeoutMs = PING_TIMEOUT_MS): Ping {
  const base = new URL(address.open());
  return async (isWell, signal) => {
    const url = isWell ? new URL(base) : failureUrl(base);
    const result = await callPeer({ peer: "ping", method: "GET", url, headers: {}, timeoutMs, signal });
    if (result.status === "answered") return { status: "sent" };
    return { status: "failed", code: result.problem ?? `http_${result.answer?.status ?? 0}` };
  };
}

function failureUrl(base: URL): URL {
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/fail`;
  return url;
}
