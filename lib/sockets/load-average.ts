import { readProcFile } from "../host/proc-file.ts";

/** The run queue's averages over 1, 5 and 15 minutes. */
export type LoadAverage = { load1: number; load5: number; load15: number };

/**
 * The host's load averages, or null when they cannot be read.
 *
 * Behaviour: reads the kernel's file, because `os.loadavg()` returns zeros when it knows nothing.
 * Source:    proc_loadavg(5).
 */
export async function readLoadAverage(path = "/proc/loadavg"): Promise<LoadAverage | null> {
  const text = await readProcFile(path).catch(() => null);
  return text === null ? null : parseLoadAverage(text);
}

/** The three averages in a text like `0.44 0.41 0.82 1/95 26782`; null for any other text. */
export function parseLoadAverage(text: string): LoadAverage | null {
  const [, one, five, fifteen] = /^(\d+\.\d+) (\d+\.\d+) (\d+\.\d+) /.exec(text) ?? [];
  if (one === undefined) return null;
  return { load1: Number(one), load5: Number(five), load15: Number(fifteen) };
}
