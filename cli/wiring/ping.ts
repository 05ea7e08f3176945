import { loadSettings } from "../../lib/platform/config/load.ts";
import { OpsError } from "../../lib/platform/errors.ts";
import type { CommandContext } from "../framework/command.ts";

/** Tells the check of a command how it has ended; never throws. */
export type PingEnd = (isWell: boolean, signal?: AbortSignal) => Promise<void>;

const SILENT: PingEnd = async () => {};

/**
 * The ping of a command that runs now and then, which tells how it ended.
 *
 * Behaviour: an address that cannot be used is logged, and the command goes on without: it is not what the ping is
 *            about. `mayLog` says whether a ping that fails now may be logged.
 */
export async function openPingEnd(
  { env, log }: Pick<CommandContext, "env" | "log">,
  { timeoutMs, mayLog = () => true }: { timeoutMs?: number; mayLog?: () => boolean } = {},
): Promise<PingEnd> {
  if ((env.OPSCTL_PING_URL ?? "").trim() === "") return SILENT;
  try {
    const { OPSCTL_PING_URL: url } = await loadSettings("weekly", { optional: ["OPSCTL_PING_URL"] }, env);
    if (url === undefined) return SILENT;
    const { pingOf } = await import("../../lib/providers/ping.ts");
    const ping = pingOf(url, timeoutMs);
    return async (isWell, signal) => {
      const outcome = await ping(isWell, signal);
      if (outcome.status === "failed" && mayLog())
        log.warn("The ping of OPSCTL_PING_URL fails", { code: outcome.code });
    };
  } catch (error) {
    if (!(error instanceof OpsError)) throw error;
    const { code, settings } = error;
    const fields = { code, setting: "OPSCTL_PING_URL", problem: settings?.[0]?.problem };
    if (mayLog()) log.warn("The ping cannot be used: the run goes on without it", fields);
    return SILENT;
  }
}
