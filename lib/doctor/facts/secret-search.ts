import { OpsError } from "../../platform/errors.ts";
import { type Environment, type FoundSecret, findSecret } from "../../platform/secrets/adapter.ts";
import { secretsOf } from "../context/command-facts.ts";
import type { CommandName } from "../finding.ts";

/** Where one secret was found; `found` is null when no layer has it, `error` says why a layer could not be read. */
export type SecretSearch = { name: string; found: FoundSecret | null; error: OpsError | null };

/** Looks for all secrets of a command at the same time; a secret command that hangs is ended after `commandLimitMs`. */
export async function locateSecrets(
  command: CommandName,
  env: Environment,
  commandLimitMs: number,
): Promise<SecretSearch[]> {
  return await Promise.all(
    secretsOf(command).map(async ({ name, fromEnvironment }) => {
      try {
        const options = { fromEnvironment, commandLimitMs };
        return { name, found: (await findSecret(env, name, options)) ?? null, error: null };
      } catch (error) {
        if (error instanceof OpsError) return { name, found: null, error };
        throw error;
      }
    }),
  );
}
