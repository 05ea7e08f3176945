import { defineCommand } from "../../framework/command.ts";

/** `opsctl secret list`: which secrets are there; their files are not opened, and `OPSCTL_SECRETS_COMMAND` is not run. */
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
