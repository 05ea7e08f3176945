import type { ServiceAccount } from "../../platform/account/service-account.ts";
import { DEFAULT_ENV_DIR } from "../../platform/config/env-files/command-file.ts";
import type { Environment } from "../../platform/secrets/adapter.ts";
import type { HandedLogin } from "../context/dependencies.ts";
import { chosenByRoot } from "./chosen-by-root.ts";

/**
 * The account that reports a finding, and what root knows of its places without asking it.
 *
 * Shape: `directories` may hold anything of that account; `settings` are directories where files of root stand beside
 *        files of the account, `envDir` the one of them that this examination is about; `chosen` are directories that
 *        root's own configuration names for state and logs, `secrets` those that it names for secrets; `ownAdvice` is
 *        what root has handed to the account's process itself, which reports it again.
 */
export type Reporter = {
  name: string;
  uid: number;
  gid: number;
  directories: readonly string[];
  settings: readonly string[];
  envDir: string;
  chosen: readonly string[];
  secrets: readonly string[];
  ownAdvice: string | null;
};

/** Where an installation puts the data of the service account. */
const ACCOUNT_DIRECTORIES = ["/var/lib/opsctl", "/var/log/opsctl"];

/** The service account as a reporter, by the environment of root and the environment files of `envDir`. */
export function reporterOf(
  { name, uid, gid }: ServiceAccount,
  { env, envDir, handedLogin }: { env: Environment; envDir: string; handedLogin: HandedLogin | null },
): Reporter {
  const own = envDir.replace(/(?<=.)\/+$/, "");
  const { directories, secrets, settings } = chosenByRoot(env, own);
  return {
    ...{ name, uid, gid, directories: ACCOUNT_DIRECTORIES, envDir: own },
    settings: [...new Set([DEFAULT_ENV_DIR, own, ...settings])],
    ...{ chosen: directories, secrets },
    ownAdvice: handedLogin?.status === "failed" ? (handedLogin.error.hint ?? null) : null,
  };
}
