import { PROXY_VARIABLES } from "../platform/config/runtime-variables.ts";
import { settingsWhere } from "../platform/config/settings-table.ts";
import { OpsError } from "../platform/errors.ts";
import type { Log } from "../platform/log/log.ts";
import type { Environment } from "../platform/secrets/adapter.ts";
import type { WebhookConfig } from "./config.ts";

/** Settings as they were read at one moment: checked, and as they are in environment and file. */
export type Reading = { config: WebhookConfig; env: Environment };

/** What a reload does: `load` reads and checks the settings and changes nothing, `apply` puts all in force at once. */
export type ReloadSteps<T> = { load: () => Promise<T>; apply: (settings: T) => void; afterwards: () => void };

/**
 * Reads the settings again each time it is requested, one reading after the other.
 *
 * Behaviour: a request before `start` is served after it: the settings may have changed since they were read. Wrong
 *            settings are named in the log and none of them counts. After `stop` nothing is read or put in force.
 */
export class Reloader<T> {
  readonly #log: Log;
  readonly #started = Promise.withResolvers<ReloadSteps<T>>();
  #latest: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(log: Log) {
    this.#log = log;
  }

  request(): void {
    this.#latest = this.#latest.then(async () => this.#readOnce(await this.#started.promise));
  }

  start(steps: ReloadSteps<T>): void {
    this.#started.resolve(steps);
  }

  stop(): void {
    this.#isStopped = true;
  }

  async #readOnce({ load, apply, afterwards }: ReloadSteps<T>): Promise<void> {
    if (this.#isStopped) return;
    try {
      const settings = await load();
      if (this.#isStopped) return;
      apply(settings);
      this.#log.info("Configuration reloaded");
      afterwards();
    } catch (cause) {
      const hint = cause instanceof OpsError ? cause.hint : undefined;
      this.#log.error("Configuration reload failed; keeping the previous configuration", { cause, hint });
    }
  }
}

/** Names of the settings that differ and change at a restart only. */
export function needRestart(started: Reading, now: Reading): string[] {
  const textOf = ({ config: { state }, env }: Reading, name: string) =>
    // It may be a secret's file, which the environment does not show.
    name === "OPSCTL_STATE_URL" ? ("url" in state ? state.url.open() : "") : (env[name] ?? "").trim();
  const names = [...settingsWhere(({ restart }) => restart === true), ...PROXY_VARIABLES];
  return names.filter((name) => textOf(started, name) !== textOf(now, name));
}
