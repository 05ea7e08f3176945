import { loadSettings } from "../../lib/platform/config/load.ts";
import type { SettingsCommand } from "../../lib/platform/config/settings-table.ts";
import { OpsError } from "../../lib/platform/errors.ts";
import type { CommandContext } from "../framework/command.ts";

/** Pings the check of a command with how it has ended; never throws. */
export type PingEnd = (isWell: boolean, signal?: AbortSignal) => Promise<void>;

/**
 * The ping of a command that runs now and then.
 *
 * Behaviour: an address that cannot be used is logged, and the command goes on without: it is not what the ping is
 *            about. `mayLog` says whether a ping that fails now may be logged.
 */
export async function openPingEnd(
  command: SettingsCommand,
  { env, log }: Pick<CommandContext, "env" | "log">,
  mayLog: () => boolean = () => true,
): Promise<PingEnd> {
  const setting = "OPSCTL_PING_URL";
  const warn = (message: string, fields: Record<string, unknown>) => {
    if (mayLog()) log.warn(message, fields);
  };
  if ((env[setting] ?? "").trim() === "") return async () => {};
  try {
    const url = (await loadSettings(command, { required: [setting] }, env))[setting];
    const { pingOf } = await import("../../lib/providers/ping.ts");
    const ping = pingOf(url);
    return async (isWell, signal) => {
      const outcome = await ping(isWell, signal);
      if (outcome.status === "failed") warn("The ping of OPSCTL_PING_URL fails", { code: outcome.code });
    };
  } catch (error) {
    if (!(error instanceof OpsError)) throw error;
    const problem = error.settings?.[0]?.problem;
    warn("The ping cannot be used: the run goes on without it", { code: error.code, setting, problem });
    return async () => {};
  }
}
