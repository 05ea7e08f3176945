import type { Database } from "../platform/database/pool.ts";
import type { OpsError } from "../platform/errors.ts";
import type { Environment } from "../platform/secrets/adapter.ts";
import type { Secret } from "../platform/secrets/secret.ts";

/** Where the collector writes, and whether it is set up, or why its settings, which are root's, cannot be used. */
export type CollectorPlace = { env: Environment; isSetUp: boolean } | OpsError;

/**
 * What a look at the host uses.
 *
 * Shape: `env` is the environment of this process without any settings file; `isPrivileged` says that this process may
 *        read all that the parts left, so that what it cannot read is a fault.
 * Units: `limitMs` is the time of each part; `databaseLimitMs`, of the database and of the command that gets its address,
 *        is shorter.
 */
export type StatusDependencies = {
  env: Environment;
  isPrivileged: boolean;
  collector: CollectorPlace;
  /** The kernel's tables of this network namespace. */
  procNet: string;
  limitMs: number;
  databaseLimitMs: number;
  nowMs(): number;
  openDatabase(url: Secret): Promise<Database>;
};
