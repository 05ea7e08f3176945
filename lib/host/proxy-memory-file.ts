import { readFile, stat } from "node:fs/promises";
import { METRIC } from "./metric-names.ts";

/** Older values are those of a collector that has stopped: nobody knows the present one. */
const MAX_AGE_MS = 300_000;

/**
 * The proxy's memory as the collector last wrote it to the metrics file, or null when it is not known.
 *
 * Units: bytes; `nowMs` is epoch milliseconds.
 */
export async function readProxyMemory(path: string, nowMs: number): Promise<number | null> {
  try {
    const { mtimeMs } = await stat(path);
    if (nowMs - mtimeMs > MAX_AGE_MS) return null;
    const value = PROXY_MEMORY.exec(await readFile(path, "utf8"))?.[1];
    return value === undefined ? null : numberOf(value);
  } catch {
    return null;
  }
}

const PROXY_MEMORY = new RegExp(`^${METRIC.proxyMemoryBytes} (\\S+)$`, "m");

function numberOf(text: string): number | null {
  const value = Number(text);
  return Number.isFinite(value) ? value : null;
}
