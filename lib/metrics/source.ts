import type { MetricSample } from "../text/prometheus-text.ts";

/**
 * The sources, as the label `source` names them, in the order in which they are started.
 *
 * Behaviour: those that wait for a peer come first: starting `ss` blocks this process for a tenth of such a wait.
 */
export const SOURCES = ["proxy_memory", "hosting", "sockets", "heartbeat"] as const;

/** One of the sources. */
export type SourceName = (typeof SOURCES)[number];

/** Why a source, or a part of it, could not be read: a public code, and a sentence for the operator. */
export type SourceProblem = { code: string; message: string };

/**
 * A source's samples, by the name of their series, and what could not be read.
 *
 * Shape: an unknown value is absent, never zero and never the value of an earlier run.
 */
export type SourceReading = {
  samples: Partial<Record<string, readonly MetricSample[]>>;
  problem: SourceProblem | null;
};

/** Reads one source until it is done or `signal` is aborted. */
export type Source = (signal: AbortSignal) => Promise<SourceReading>;
