import type { Stats } from "node:fs";
import { METRIC } from "../host/metric-names.ts";
import { readJudged } from "../platform/files/regular-file.ts";

/** An older value, or one from the future (the clock was set back), is not used. */
const MAX_AGE_MS = 300_000;

/**
 * The proxy's memory as the collector last wrote it to the metrics file, or null when it is not known.
 *
 * Behaviour: null also for what the agent would refuse: an unfinished line, or a value that is no number.
 * Units:     bytes; `nowMs` is epoch milliseconds.
 */
export async function readProxyMemory(path: string, nowMs: number): Promise<number | null> {
  try {
    const text = new TextDecoder().decode(readJudged(path, (stats) => requireFresh(stats, nowMs)));
    const value = PROXY_MEMORY.exec(text)?.[1];
    return value === undefined ? null : Number(value);
  } catch {
    return null;
  }
}

function requireFresh(stats: Stats, nowMs: number): void {
  if (!stats.isFile()) throw new Error("not a regular file");
  if (Math.abs(nowMs - stats.mtimeMs) > MAX_AGE_MS) throw new Error("too old");
}

const PROXY_MEMORY = new RegExp(`^${METRIC.proxyMemoryBytes} (\\d+(?:\\.\\d+)?(?:e\\+\\d{1,2})?)\\n`, "m");
