import { join } from "node:path";
import type { CheckResult } from "../health/result.ts";
import { isSetUp } from "../host/set-up.ts";
import { KNOWN_SECRETS } from "../platform/config/known-secrets.ts";
import type { DatabaseLogin } from "../platform/config/owner-login.ts";
import { type CommandSettings, readCommandSettings } from "../platform/config/settings-file.ts";
import { COMMAND_NAMES, COMMANDS, type SettingsCommand } from "../platform/config/settings-table.ts";
import type { Database } from "../platform/database/pool.ts";
import { OpsError, onlyOpsError } from "../platform/errors.ts";
import { type Account, SERVICE_ACCOUNT } from "../platform/privileges.ts";
import { type Environment, type FoundSecret, findSecret } from "../platform/secrets/adapter.ts";
import { registerSecret } from "../platform/secrets/redact.ts";
import type { Secret } from "../platform/secrets/secret.ts";

/** A command whose needs are checked. */
export type CommandName = SettingsCommand;

/** A result with its command and its check. */
export type Finding = { command: CommandName; check: string } & CheckResult;

/**
 * The account that runs a command, null for the person at the terminal, and when cron starts it: at exactly these times,
 * or, with `everyMinutes`, at least so often.
 */
export type CommandFact = {
  account: string | null;
  cron: { schedule: string; everyMinutes: number | null } | null;
};

const BY_HAND: CommandFact = { account: null, cron: null };

/** The facts of each command. */
export const COMMAND_FACTS: Record<CommandName, CommandFact> = {
  weekly: { account: SERVICE_ACCOUNT, cron: { schedule: "0 11 * * 1", everyMinutes: null } },
  webhook: { account: SERVICE_ACCOUNT, cron: null },
  "collect-metrics": { account: "root", cron: { schedule: "* * * * *", everyMinutes: 1 } },
  "socket-monitor": { account: SERVICE_ACCOUNT, cron: { schedule: "*/5 * * * *", everyMinutes: 5 } },
  ...{ "alert-rules": BY_HAND, migrate: BY_HAND, reports: BY_HAND, deliveries: BY_HAND },
};

/**
 * One thing that a command needs.
 *
 * Shape:     `service` is the external service that it calls, in words; without one it reads files of this host, or
 *            starts a program. `runsAsRoot` where it looks at what only root may read, or what belongs to the host: a
 *            doctor that root started runs it before it becomes the account, and then in a second at most.
 * Behaviour: `run` only reads and may return several results; `signal` is aborted when its time has run out.
 */
export type Check = {
  command: CommandName;
  name: string;
  service?: string | undefined;
  runsAsRoot?: true;
  run(context: CheckContext, signal: AbortSignal): Promise<CheckResult[]>;
};

/**
 * What doctor uses besides the files and external services that the settings name.
 *
 * Shape: `rootsLogin` is the login for migrations that root read in its own secrets, or why it could not; null where
 *        root has none. `limitMs` is the time of each check; the limit of a call is longer, so that the check names the
 *        service.
 */
export type DoctorDependencies = {
  env: Environment;
  envDir: string;
  rootsLogin: DatabaseLogin | OpsError | null;
  paths: { localtime: string; cronFile: string; procNet: string };
  limitMs: number;
  callLimitMs: number;
  nowMs(): number;
  /** Errors: ACCOUNT_UNAVAILABLE. */
  findServiceAccount(): Promise<Account | null>;
  openDatabase(url: Secret, setting?: string): Promise<Database>;
  /** What systemctl prints; nothing where there is none. */
  systemctl(words: readonly string[], signal: AbortSignal): Promise<string>;
};

/**
 * The variables that a command gets: those of its file, then those of this process, which win; `problem` is why the file
 * could not be used.
 */
export type CommandEnvironment = {
  env: Environment;
  file: Pick<CommandSettings, "isThere" | "names" | "repeated"> & { path: string; problem: OpsError | null };
};

/** Where one secret was found; `found` is null when no layer has it, `error` says why a layer could not be read. */
export type SecretSearch = { name: string; found: FoundSecret | null; error: OpsError | null };

/** Settings that could not be loaded, and the check that says why. */
export type FailedSettings = { status: "failed"; error: OpsError; reportedBy: string };

/** Of the time of a check, which then names the secret command that hangs. */
const SECRET_COMMAND_PART = 0.75;

/**
 * What several checks need, read once: environments, secrets, account, open databases.
 *
 * Behaviour: the first check that asks starts the reading; all get the same result or the same failure. `limitMs` is the
 *            time of each check that begins now.
 */
export class CheckContext {
  readonly dependencies: DoctorDependencies;
  limitMs: number;
  readonly #known = new Map<string, Promise<unknown>>();
  readonly #databases: Database[] = [];

  constructor(dependencies: DoctorDependencies) {
    this.dependencies = dependencies;
    this.limitMs = dependencies.limitMs;
  }

  /** The environment of a command when cron or systemd starts it, which has other variables than this process. */
  environment(of: CommandName): Promise<CommandEnvironment> {
    const fileName = COMMANDS[of].file;
    return this.once(`environment ${fileName}`, async () => {
      const { envDir } = this.dependencies;
      const own = { ...this.dependencies.env, OPSCTL_ENV_DIR: envDir };
      const path = join(envDir, fileName);
      const reader = COMMAND_NAMES.find((other) => COMMANDS[other].file === fileName) ?? of;
      try {
        const { env, isThere, names, repeated } = readCommandSettings(reader, own);
        // Also one that no command takes from a variable.
        for (const { name } of KNOWN_SECRETS) if (env[name]?.trim()) registerSecret(env[name]);
        return { env, file: { path, isThere, names, repeated, problem: null } };
      } catch (error) {
        const problem = onlyOpsError(error);
        return { env: own, file: { path, isThere: true, names: [], repeated: [], problem } };
      }
    });
  }

  /** Whether a setting or what is kept shows that the part of a command is set up; a fault of its file counts. */
  isSetUp(of: CommandName): Promise<boolean> {
    return this.once(`set up ${of}`, async () => {
      const { env, file } = await this.environment(of);
      const isForRoot = of === "migrate" && this.dependencies.rootsLogin !== null;
      return file.problem !== null || isForRoot || isSetUp(COMMANDS[of].part, env);
    });
  }

  /** Where each secret of a command is; none of `migrate` when root has read its login: it uses no other. */
  secrets(of: CommandName): Promise<SecretSearch[]> {
    return this.once(`secrets ${of}`, async () => {
      if (of === "migrate" && this.dependencies.rootsLogin !== null) return [];
      const { env } = await this.environment(of);
      const commandLimitMs = this.limitMs * SECRET_COMMAND_PART;
      const own = KNOWN_SECRETS.filter(({ usedBy }) => usedBy.some((use) => use.command === of));
      const searches = own.map(({ name, fromEnvironment }) =>
        findSecret(env, name, { fromEnvironment, commandLimitMs }).then(
          (found) => ({ name, found: found ?? null, error: null }),
          (error: unknown) => ({ name, found: null, error: onlyOpsError(error) }),
        ),
      );
      return await Promise.all(searches);
    });
  }

  /** The settings of a command as `load` reads them. */
  async settings<T>(
    of: CommandName,
    load: (env: Environment, dependencies: DoctorDependencies) => Promise<T>,
  ): Promise<{ status: "ok"; value: T } | FailedSettings> {
    const { env, file } = await this.environment(of);
    if (file.problem !== null)
      return { status: "failed", error: file.problem, reportedBy: "environment file" };
    // The loader runs the secret command too and would wait too long for one that hangs.
    const broken = (await this.secrets(of)).find(({ error }) => error?.code === "SECRET_COMMAND_FAILED");
    if (broken?.error) return { status: "failed", error: broken.error, reportedBy: "secrets" };
    try {
      return { status: "ok", value: await load(env, this.dependencies) };
    } catch (thrown) {
      const error = onlyOpsError(thrown);
      const found = [this.dependencies.rootsLogin, ...(await this.secrets(of)).map((one) => one.error)];
      const isFound = found.some((one) => one instanceof OpsError && one.message === error.message);
      const isSaid = error.settings === undefined && isFound;
      return { status: "failed", error, reportedBy: isSaid ? "secrets" : "configuration" };
    }
  }

  /** The service account of this host; null when there is none. Errors: ACCOUNT_UNAVAILABLE. */
  account(): Promise<Account | null> {
    return this.once("account", () => this.dependencies.findServiceAccount());
  }

  /** The open database of the URL that a setting has; each URL is opened once. */
  database(url: Secret, setting?: string): Promise<Database> {
    return this.once(`database ${url.open()}`, async () => {
      const database = await this.dependencies.openDatabase(url, setting);
      this.#databases.push(database);
      return database;
    });
  }

  /** Closes the databases that are open. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#databases.map((database) => database.close()));
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
