import type { MetricSample } from "../text/prometheus-text.ts";

/**
 * The sources, as the label `source` names them, in the order in which they are started.
 *
 * Behaviour: those that wait for a peer's answer come first: to start `ss` takes this process a tenth of such a wait.
 */
export const SOURCES = ["proxy_memory", "hosting", "sockets", "heartbeat"] as const;

/** One of the sources. */
export type SourceName = (typeof SOURCES)[number];

/** Why a source, or a part of it, could not be read: a public code, and a sentence for the operator. */
export type SourceProblem = { code: string; message: string };

/**
 * What a source has to say: samples by the name of their series, and what could not be read.
 *
 * Shape: what is not known is not there, never zero and never the value of an earlier run.
 */
export type SourceReading = {
  samples: Partial<Record<string, readonly MetricSample[]>>;
  problem: SourceProblem | null;
};

/** Reads one source until it is done or `signal` says that its time is over. */
export type Source = (signal: AbortSignal) => Promise<SourceReading>;
