import type { ServiceAccount } from "../../platform/account/service-account.ts";
import { DEFAULT_ENV_DIR } from "../../platform/config/env-files/command-file.ts";
import { checksFor } from "../checks/all.ts";
import type { DoctorDependencies } from "../context/dependencies.ts";
import { asRoot } from "../facts/reader.ts";
import { DOCTOR_COMMANDS } from "../finding.ts";
import { whenSilent } from "../run.ts";
import { chosenByRoot } from "./chosen-by-root.ts";

/** What root knows of an examination by itself. */
type Examination = Pick<DoctorDependencies, "env" | "envDir" | "handedLogin">;

/**
 * The account that reports a finding, and what root knows of its places without asking it.
 *
 * Shape: `directories` may hold anything of that account; `settings` are directories where files of root stand beside
 *        files of the account, `envDir` the one of them that this examination is about; `chosen` are directories that
 *        root's own configuration names for state and logs, `secrets` those that it names for secrets, `secretsDir` the
 *        one of them that stands in root's environment; `ownAdvice` is what `ownAdvice` returns.
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
  secretsDir: string | null;
  ownAdvice: readonly string[];
};

/** Where an installation puts the data of the service account. */
const ACCOUNT_DIRECTORIES = ["/var/lib/opsctl", "/var/log/opsctl"];

/** The service account as a reporter, by the environment of root and the environment files of `envDir`. */
export function reporterOf({ name, uid, gid }: ServiceAccount, examination: Examination): Reporter {
  const { env } = examination;
  const envDir = examination.envDir.replace(/(?<=.)\/+$/, "");
  const { directories, secrets, settings } = chosenByRoot(env, envDir);
  return {
    ...{ name, uid, gid, directories: ACCOUNT_DIRECTORIES, envDir },
    settings: [...new Set([DEFAULT_ENV_DIR, envDir, ...settings])],
    ...{ chosen: directories, secrets, secretsDir: env.OPSCTL_SECRETS_DIR?.trim() || null },
    ownAdvice: ownAdvice(examination),
  };
}

/**
 * The advice that root would give in the same words: to look as root, to look again where a check did not end, and what
 * root has handed to the account's process itself.
 */
export function ownAdvice({ env, envDir, handedLogin }: Examination): string[] {
  const handed = handedLogin?.status === "failed" ? (handedLogin.error.hint ?? []) : [];
  return [
    ...DOCTOR_COMMANDS.map((command) => asRoot(command, { dependencies: { env, envDir } })),
    ...checksFor(DOCTOR_COMMANDS, { isNamed: true }).map((check) => whenSilent(check, envDir)),
  ].concat(handed);
}
