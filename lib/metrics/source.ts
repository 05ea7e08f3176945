import type { Settings } from "../platform/config/load.ts";
import type { SettingName } from "../platform/config/settings-table.ts";
import type { Fix } from "../platform/errors.ts";
import type { Log } from "../platform/log/log.ts";
import type { Environment } from "../platform/secrets/adapter.ts";
import type { MetricSample } from "../text/prometheus-text.ts";

/**
 * A source's samples, by the name of their series, and why not all could be read: a public code and a sentence.
 *
 * Shape: an unknown value is absent, never zero and never the value of an earlier run.
 */
export type SourceReading = {
  samples: Partial<Record<string, readonly MetricSample[]>>;
  problem: { code: string; message: string } | null;
};

/** What a source reads with; `signal` is aborted when its time has run out. */
export type SourceContext = { env: Environment; log: Pick<Log, "debug" | "warn">; signal: AbortSignal };

/** What a code of a source means, in its log and in doctor, and what to do about it. */
export type SourceFault = { why: string; fix: Fix | string };

/**
 * One source of the collector.
 *
 * Shape: `help` has the series that it writes and what each means; an agent that sees two texts for one name drops one,
 *        so a text never changes. `settings` are those that it reads.
 */
export type MetricSource = {
  name: string;
  help: Readonly<Record<string, string>>;
  limitMs: number;
  settings: readonly SettingName[];
  read(settings: Settings<never, SettingName>, context: SourceContext): Promise<SourceReading>;
};

/** A reading without samples. */
export function unread(code: string, message: string): SourceReading {
  return { samples: {}, problem: { code, message } };
}
