import type { DatabaseLogin } from "../../platform/config/owner-login.ts";
import type { Database } from "../../platform/database/pool.ts";
import type { OpsError } from "../../platform/errors.ts";
import type { Account } from "../../platform/privileges.ts";
import type { Environment } from "../../platform/secrets/adapter.ts";
import type { Secret } from "../../platform/secrets/secret.ts";

/** Where the files of a host are; tests use other paths. */
export type HostPaths = {
  localtime: string;
  cronFile: string;
  /** Folders of systemd units, the one that counts first. */
  unitDirs: readonly string[];
  /** The kernel's tables of this network namespace. */
  procNet: string;
};

/** How a program ended; null when there is no such program. */
export type ProgramEnd = { status: number | null; stdout: string } | null;

/** What doctor uses besides the files and external services that the settings name. */
export type DoctorDependencies = {
  env: Environment;
  envDir: string;
  /** The login for migrations that root read in its own secrets, or why it could not; null where root has none. */
  rootsLogin: DatabaseLogin | OpsError | null;
  paths: HostPaths;
  /** How long a check may take. */
  limitMs: number;
  /** Ends all checks when it is aborted, as their time would. */
  signal?: AbortSignal;
  /** The limit of a call to an external service: longer than that of the check, which then names the service. */
  callLimitMs: number;
  nowMs(): number;
  /** The service account, also where a directory service has it; throws ACCOUNT_UNAVAILABLE. */
  findServiceAccount(): Promise<Account | null>;
  openDatabase(url: Secret, setting?: string): Promise<Database>;
  runProgram(program: string, args: readonly string[], signal: AbortSignal): Promise<ProgramEnd>;
};
