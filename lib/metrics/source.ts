import type { Settings } from "../platform/config/load.ts";
import type { SettingName } from "../platform/config/settings-table.ts";
import type { Fix } from "../platform/errors.ts";
import type { Log } from "../platform/log/log.ts";
import type { Environment } from "../platform/secrets/adapter.ts";
import type { Secret } from "../platform/secrets/secret.ts";
import type { MetricSample } from "../text/prometheus-text.ts";

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

/** What a source reads with; `signal` is aborted when its time has run out. */
export type SourceContext = { env: Environment; log: Pick<Log, "debug" | "warn">; signal: AbortSignal };

/** What the check of a source looks with: `secret` is the one that it names, the fixes are those of this host. */
export type SourceCheckContext = {
  signal: AbortSignal;
  env: Environment;
  procNet: string | undefined;
  callLimitMs: number;
  secret: Secret | null;
  /** The environment file of the collector. */
  settingsFile: string;
  asRoot: Fix;
  replaceSecret: () => Promise<Fix>;
};

/** The result of a source's check; `code` is null when the source can be read. */
export type SourceHealth =
  | { status: "pass"; reason: string }
  | { status: "warn" | "fail"; code: string; reason: string; fix: Fix | string };

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
  /** What doctor looks at before a pass fails. */
  check?: {
    name: string;
    /** What it waits for. */
    service: string;
    runsAsRoot?: true;
    secret?: SettingName;
    run(settings: Settings<never, SettingName>, context: SourceCheckContext): Promise<SourceHealth>;
  };
};

/** A reading without samples. */
export function unread(code: string, message: string): SourceReading {
  return { samples: {}, problem: { code, message } };
}
