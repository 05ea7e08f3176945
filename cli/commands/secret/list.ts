/**
 * `opsctl secret list`: which secrets are there, where, how old, and which command needs them. The files of secrets are
 * never opened, `OPSCTL_SECRETS_COMMAND` is not run.
 *
 * JSON:   `secrets` (each `name`, `state`: set, wrong, missing, unset or unknown, `sources`: each `kind` and `where`,
 *         `changedAt`: UTC or null, `ageSeconds`, `usedBy`: each `command` and `required`, `problems`: each `where`,
 *         `why`, `fix`: `text`, `command`), `problems` (of environment files). Never a value, nor anything that shows
 *         its length.
 */
import { defineCommand } from "../../framework/command.ts";

/** The command; see the head of this file. */
export const secretList = defineCommand({
  staysRoot: true,
  notes: "Never shows a value. As root it sees all of them.",
  args: {},
  example: "opsctl secret list",

  async run(_args, { env }) {
    const [{ findServiceAccount }, { listSecrets }, { renderSecretList }] = await Promise.all([
      import("../../../lib/platform/privileges.ts"),
      import("../../../lib/secret/list.ts"),
      import("../../../lib/secret/render.ts"),
    ]);
    const list = listSecrets(env, await findServiceAccount(), Date.now());
    return { fields: list, text: (screen) => renderSecretList(list, screen, env) };
  },
});
