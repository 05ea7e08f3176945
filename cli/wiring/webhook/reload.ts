import { loadWebhookConfig } from "../../../lib/webhook/config.ts";
import { needRestart, type Reading } from "../../../lib/webhook/need-restart.ts";
import type { Reloader } from "../../../lib/webhook/reload.ts";
import type { ServeDependencies } from "../../../lib/webhook/serve.ts";
import type { CommandContext } from "../../framework/command.ts";
import { warnOfHidden, warnOfUnknown } from "../../framework/command-settings.ts";
import type { ReplaceablePeers } from "./peers.ts";

type ReloadContext = Pick<CommandContext, "log" | "readSettings">;

/**
 * How the service reloads: the settings file and every secret are read again, and the peers are made anew.
 *
 * Behaviour: what changes at a restart only is named in the log, compared with the settings that the service was
 *            started with; so is what the environment overrules.
 */
export function reloadsOf(
  reloader: Reloader<Reading>,
  parts: { started: Reading; peers: ReplaceablePeers; context: ReloadContext },
): ServeDependencies["reloads"] {
  const { started, peers, context } = parts;
  return {
    start: (afterwards) =>
      reloader.start({
        load: () => readAgain(context),
        apply(reading) {
          const settings = needRestart(started, reading);
          if (settings.length > 0)
            context.log.warn("These settings change at a restart only: the old ones stay", { settings });
          peers.replace(reading.config);
        },
        afterwards,
      }),
    stop: () => reloader.stop(),
  };
}

async function readAgain({ log, readSettings }: ReloadContext): Promise<Reading> {
  const settings = readSettings();
  await warnOfUnknown(settings, log);
  warnOfHidden(settings, log);
  return { config: await loadWebhookConfig(settings.env), env: settings.env };
}
