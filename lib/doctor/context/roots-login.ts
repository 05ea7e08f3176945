import { type DatabaseLogin, findOwnerLogin, rootsOwnerLogin } from "../../platform/config/owner-login.ts";
import { OpsError } from "../../platform/errors.ts";
import type { Environment } from "../../platform/secrets/adapter.ts";
import type { DoctorDependencies, RootsLogin } from "./dependencies.ts";

/** The owner's login as root finds it; null when root has none. */
export async function readRootsLogin(env: Environment): Promise<RootsLogin | null> {
  try {
    const login = await rootsOwnerLogin(env);
    return login === null ? null : { status: "found", login };
  } catch (error) {
    if (error instanceof OpsError) return { status: "failed", error };
    throw error;
  }
}

/**
 * The login with which `opsctl migrate` connects.
 *
 * Errors: those of `findOwnerLogin`, and why root could not read its own secret.
 */
export async function ownerLogin(
  env: Environment,
  { rootsLogin }: DoctorDependencies,
): Promise<DatabaseLogin> {
  if (rootsLogin?.status === "failed") throw rootsLogin.error;
  if (rootsLogin !== null) return rootsLogin.login;
  return await findOwnerLogin(env, { given: env, settingsFile: null });
}
