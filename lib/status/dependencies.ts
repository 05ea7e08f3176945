import type { Database } from "../platform/database/pool.ts";
import type { Environment } from "../platform/secrets/adapter.ts";
import type { Secret } from "../platform/secrets/secret.ts";
import type { CollectorPlace } from "./collector-place.ts";

/** The account of this process: the service account, which owns what is read, or another one. */
export type Viewer = "service" | "other";

/**
 * What a look at the host uses.
 *
 * Shape: `env` is the environment of this process without any settings file; `readTextEnd` reads the last bytes of a
 *        file.
 * Units: `limitMs` is the time of each reading, and `wait` measures it; `secretCommandLimitMs` is shorter.
 */
export type StatusDependencies = {
  env: Environment;
  viewer: Viewer;
  collector: CollectorPlace;
  /** The kernel's tables of this network namespace. */
  procNet: string;
  limitMs: number;
  secretCommandLimitMs: number;
  wait(ms: number, signal: AbortSignal): Promise<void>;
  nowMs(): number;
  openDatabase(url: Secret): Promise<Database>;
  readTextEnd(path: string, maxBytes: number): Promise<string>;
};
