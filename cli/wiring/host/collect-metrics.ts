import type { CollectConfig } from "../../../lib/metrics/config.ts";
import type { CollectDependencies } from "../../../lib/metrics/run.ts";
import { SOURCES } from "../../../lib/metrics/sources.ts";
import type { CommandContext } from "../../framework/command.ts";

/** Opens what the collector reads with. */
export function openCollectDependencies(
  settings: CollectConfig,
  { log, env }: Pick<CommandContext, "log" | "env">,
): CollectDependencies {
  const monotonicMs = () => performance.now();
  return { sources: SOURCES, settings, env, log, nowMs: Date.now, monotonicMs };
}
