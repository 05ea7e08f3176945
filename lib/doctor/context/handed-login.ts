import {
  type DatabaseLogin,
  findOwnerLogin,
  parseLogin,
  rootsOwnerLogin,
  writtenLogin,
} from "../../platform/config/settings/owner-login.ts";
import { OpsError, type OpsErrorParts } from "../../platform/errors.ts";
import type { Environment } from "../../platform/secrets/adapter.ts";
import type { DoctorDependencies, HandedLogin } from "./dependencies.ts";

/** The owner's login as root finds it; null when root has none. */
export async function readAsRoot(env: Environment): Promise<HandedLogin | null> {
  try {
    const login = await rootsOwnerLogin(env);
    return login === null ? null : { status: "found", login, isClosed: true };
  } catch (error) {
    if (error instanceof OpsError) return { status: "failed", error };
    throw error;
  }
}

/** It as text for the standard input of the process that runs the checks. */
export function writtenHanded(handed: HandedLogin): string {
  if (handed.status === "found") return writtenLogin(handed.login);
  const { code, message, hint, settings } = handed.error;
  return JSON.stringify({ code, message, hint, settings });
}

/** What `writtenHanded` wrote; `isClosed` is that of the process that reads it. */
export function parseHanded(text: string, isClosed: boolean): HandedLogin {
  const { code, ...parts } = JSON.parse(text) as Partial<OpsErrorParts> & { message: string };
  if (code === undefined) return { status: "found", login: parseLogin(text), isClosed };
  return { status: "failed", error: new OpsError({ code, ...parts }) };
}

/**
 * The login with which `opsctl migrate` connects.
 *
 * Errors: those of `findOwnerLogin`, and why root could not read its own secret.
 */
export async function ownerLogin(
  env: Environment,
  { handedLogin }: DoctorDependencies,
): Promise<DatabaseLogin> {
  if (handedLogin?.status === "failed") throw handedLogin.error;
  if (handedLogin !== null) return handedLogin.login;
  return await findOwnerLogin(env, { given: env, settingsFile: null });
}
