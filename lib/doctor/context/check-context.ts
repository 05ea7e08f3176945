import type { Database } from "../../platform/database/pool.ts";
import { OpsError } from "../../platform/errors.ts";
import type { Account } from "../../platform/privileges.ts";
import type { Environment } from "../../platform/secrets/adapter.ts";
import type { Secret } from "../../platform/secrets/secret.ts";
import { type WebhookPorts, webhookPorts } from "../../webhook/ports.ts";
import { type CommandEnvironment, readEnvironment } from "../facts/environment.ts";
import { locateSecrets, type SecretSearch } from "../facts/secret-search.ts";
import type { CommandName } from "../finding.ts";
import type { DoctorDependencies } from "./dependencies.ts";

/** The settings that a loader returned, or its error. */
export type Settings<T> = { status: "ok"; value: T } | { status: "failed"; error: OpsError };

/**
 * What several checks need, read once: environments, secrets, settings, accounts, open databases.
 *
 * Behaviour: the first check that asks starts the reading; all get the same result or the same failure.
 */
export class CheckContext {
  dependencies: DoctorDependencies;
  readonly #known = new Map<string, Promise<unknown>>();
  readonly #databases: Promise<Database>[] = [];

  constructor(dependencies: DoctorDependencies) {
    this.dependencies = dependencies;
  }

  /** The environment of a command when cron or systemd starts it. */
  environment(command: CommandName): Promise<CommandEnvironment> {
    return this.once(`environment ${command}`, () => readEnvironment(command, this.dependencies));
  }

  /** The ports of the webhook, as its settings name them. */
  webhookPorts(): Promise<WebhookPorts> {
    return this.once("webhook ports", async () => webhookPorts((await this.environment("webhook")).env));
  }

  /**
   * Where each secret of a command is.
   *
   * Behaviour: none of `migrate` when root has read its login: it uses no other.
   */
  secrets(command: CommandName): Promise<SecretSearch[]> {
    return this.once(`secrets ${command}`, async () => {
      if (command === "migrate" && this.dependencies.rootsLogin !== null) return [];
      const { env } = await this.environment(command);
      return await locateSecrets(command, env, this.dependencies.secretCommandLimitMs);
    });
  }

  /** The settings of a command; `part` names which of them, so that each part is loaded once. */
  settings<T>(
    command: CommandName,
    part: string,
    load: (env: Environment, dependencies: DoctorDependencies) => Promise<T>,
  ): Promise<Settings<T>> {
    return this.once(`settings ${command} ${part}`, async () => {
      // The loader runs the secret command too and would wait too long for one that hangs.
      const broken = (await this.secrets(command)).find(
        (search) => search.error?.code === "SECRET_COMMAND_FAILED",
      );
      if (broken?.error) return { status: "failed", error: broken.error };
      try {
        return { status: "ok", value: await load((await this.environment(command)).env, this.dependencies) };
      } catch (error) {
        if (error instanceof OpsError) return { status: "failed", error };
        throw error;
      }
    });
  }

  /**
   * The service account of this host; null when there is none.
   *
   * Errors: ACCOUNT_UNAVAILABLE when the host does not say whether there is such an account.
   */
  account(): Promise<Account | null> {
    return this.once("account", () => this.dependencies.findServiceAccount());
  }

  /** The open database of the URL that a setting has; each URL is opened once. */
  database(url: Secret, setting?: string): Promise<Database> {
    return this.once(`database ${url.open()}`, () => {
      const database = this.dependencies.openDatabase(url, setting);
      this.#databases.push(database);
      return database;
    });
  }

  /** Closes the databases, and does not wait for one that hangs. */
  async close(): Promise<void> {
    const done = new AbortController();
    const closed = this.#databases.map(async (database) => (await database).close());
    await Promise.race([Promise.allSettled(closed), this.dependencies.wait(CLOSE_LIMIT_MS, done.signal)]);
    done.abort();
  }

  /** What `read` returns, which is called once for each key. */
  once<T>(key: string, read: () => Promise<T>): Promise<T> {
    const known = this.#known.get(key) as Promise<T> | undefined;
    if (known !== undefined) return known;
    const reading = read();
    // The check that asked may have run out of time: an unhandled rejection would end the process.
    reading.catch(() => {});
    this.#known.set(key, reading);
    return reading;
  }
}

const CLOSE_LIMIT_MS = 300;
