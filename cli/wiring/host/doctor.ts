import process from "node:process";
import type { DoctorDependencies } from "../../../lib/doctor/context.ts";
import { openDatabase } from "../../../lib/platform/database/pool.ts";
import { findServiceAccount } from "../../../lib/platform/privileges.ts";
import { runProgram } from "../../../lib/platform/run-program.ts";

/** How long each check may take, so that doctor ends within five seconds. */
const LIMIT_MS = 4_000;
/** For one call of a check: longer, because the end of the check names what did not answer. */
const CALL_LIMIT_MS = 12_000;
/** For the service account: a directory service that hangs is named before a person thinks that doctor does. */
const ACCOUNT_LIMIT_MS = 2_000;

/** What `opsctl doctor` uses on this host. */
export function openDoctorDependencies(
  given: Pick<DoctorDependencies, "env" | "envDir" | "rootsLogin">,
): DoctorDependencies {
  return {
    ...given,
    paths: { localtime: "/etc/localtime", cronFile: "/etc/cron.d/opsctl", procNet: "/proc/net" },
    limitMs: LIMIT_MS,
    callLimitMs: CALL_LIMIT_MS,
    nowMs: () => Date.now(),
    findServiceAccount: () => findServiceAccount(ACCOUNT_LIMIT_MS),
    openDatabase: (url, setting) =>
      openDatabase(url, {
        ...{ setting, max: 4, applicationName: "opsctl doctor" },
        ...{ connectLimitMs: CALL_LIMIT_MS, closeLimitMs: 100 },
      }),
    async systemctl(words, signal) {
      const { stdout } = await runProgram("systemctl", words, { env: process.env, signal });
      return stdout.toString();
    },
  };
}
