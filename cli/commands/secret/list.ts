/**
 * `opsctl secret list`: which secrets are there, where, how old, and which command needs them.
 *
 * Reads:  owner, mode and age of the secrets' files, which are never opened; the environment files, for the names of
 *         what is set in them: started by root, those of the service account in a process that has become it.
 * Writes: nothing.
 * Calls:  nothing; `OPSCTL_SECRETS_COMMAND` is named, not run.
 * Env:    OPSCTL_SECRETS_DIR, OPSCTL_ENV_DIR.
 * Exits:  0 listed, also when something is missing or wrong; 1, 2 usage, 3 settings.
 *
 * JSON:   `command`, `status`, `exitCode`, `secrets` (each `name`, `state`: set, wrong, missing, unset or unknown,
 *         `sources`: each `kind` and `where`, `changedAt`: UTC or null, `ageSeconds`, `usedBy`: each `command` and
 *         `required`, `problems`: each `where`, `why`, `mend`), `problems` (of directories and environment files),
 *         `error`. Never a value, nor anything that tells its length.
 */
import { defineCommand } from "../../framework/command.ts";
import { outcomeOf } from "../../framework/outcome.ts";
import { standardScreen } from "../../framework/streams/screen.ts";

/** The command; see the head of this file. */
export const secretList = defineCommand({
  meta: { name: "list", description: "List the secrets: where each is, how old, and which command needs it" },
  notes: "Never shows a value. As root it sees all of them.",
  args: { json: { type: "boolean", description: "Print the result as one line of JSON" } },
  example: "opsctl secret list",

  async run(_args, { env }) {
    const [{ secretListInput }, { listSecrets }, { renderSecretList }] = await Promise.all([
      import("../../wiring/host/secret.ts"),
      import("../../../lib/secret/list.ts"),
      import("../../../lib/secret/render-list.ts"),
    ]);
    const list = listSecrets(await secretListInput(env));
    const text = renderSecretList(list, await standardScreen(env), env);
    return outcomeOf({ command: "secret list", fields: list, text });
  },
});
