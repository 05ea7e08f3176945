import type { Stats } from "node:fs";
import { readFile } from "node:fs/promises";
import { METRIC } from "../host/metric-names.ts";
import { readRegularFile } from "../platform/files/regular-file.ts";

/** The run queue's averages over 1, 5 and 15 minutes. */
export type LoadAverage = { load1: number; load5: number; load15: number };

/** An older value, or one from the future (the clock was set back), is not used. */
const MAX_AGE_MS = 300_000;
const PROXY_MEMORY = new RegExp(`^${METRIC.proxyMemoryBytes} (\\d+(?:\\.\\d+)?(?:e\\+\\d{1,2})?)\\n`, "m");

/** The host's load averages, or null when they cannot be read; `os.loadavg()` would return zeros. */
export async function readLoadAverage(path = "/proc/loadavg"): Promise<LoadAverage | null> {
  const text = await readFile(path, "utf8").catch(() => null);
  const [, one, five, fifteen] = /^(\d+\.\d+) (\d+\.\d+) (\d+\.\d+) /.exec(text ?? "") ?? [];
  if (one === undefined) return null;
  return { load1: Number(one), load5: Number(five), load15: Number(fifteen) };
}

/** The proxy's memory in bytes, as the collector last wrote it; null when it is not known, and for an unfinished line. */
export async function readProxyMemory(path: string, nowMs: number): Promise<number | null> {
  try {
    const judge = ({ mtimeMs }: Stats) => {
      if (Math.abs(nowMs - mtimeMs) > MAX_AGE_MS) throw new Error("too old");
    };
    const bytes = readRegularFile(path, { judge, followLinks: true });
    const value = PROXY_MEMORY.exec(new TextDecoder().decode(bytes))?.[1];
    return value === undefined ? null : Number(value);
  } catch {
    return null;
  }
}
