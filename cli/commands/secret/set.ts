/**
 * `opsctl secret set`: puts a secret into a file of its own, where the commands that need it find it. The value comes
 * from the terminal, where it is not shown, else as one line from standard input.
 *
 * Writes: /etc/opsctl/secrets/<NAME> (opsctl 0600), or /etc/opsctl/root-secrets/<NAME> (root 0600); whole or not at
 *         all. The directory, where it is missing.
 * JSON:   `name`, `path`, `owner`, `mode`, `isNew`, `usedBy` (commands), `next` (commands to run so that it counts),
 *         `warnings` (what else has a value, and what is odd). Never the value.
 */
import type { KnownSecret } from "../../../lib/platform/config/known-secrets.ts";
import type { OpsError } from "../../../lib/platform/errors.ts";
import type { Environment } from "../../../lib/platform/secrets/adapter.ts";
import type { Secret } from "../../../lib/platform/secrets/secret.ts";
import { argument, flag } from "../../args/options.ts";
import { defineCommand } from "../../framework/command.ts";
import { isTerminal, writeErr } from "../../output.ts";
import { aSecret, SECRET_NAMES, secretOf } from "./secret-name.ts";

const STDIN = 0;

/** The command; see the head of this file. */
export const secretSet = defineCommand({
  notes:
    "Run it as root. The value is read from the terminal without showing it, or as one line from standard input.",
  args: {
    name: argument("Its name, as `opsctl secret list` shows it", {
      required: true,
      values: SECRET_NAMES,
      check: aSecret,
    }),
    root: flag("Keep it for root alone, as HOSTING_TOKEN and MIGRATE_DATABASE_URL always are"),
  },
  unexpected: "the value is asked for, because the history and the list of processes would show it",
  example: "opsctl secret set DATABASE_URL",

  async run(args, { env }) {
    const secret = secretOf(args.name);
    const isForRoot = args.root === true;
    const { openSecretPlace, whatElseHas } = await import("../../wiring/host/secret.ts");
    const { place, account } = await openSecretPlace(secret, { isForRoot, env });
    const value = await askFor(secret, env);
    const { writeSecret } = await import("../../../lib/secret/write-secret.ts");
    const { isNew } = writeSecret(place, value, Date.now());
    const [{ warningsAbout, nextSteps }, { renderSecretSet }, conflicts] = await Promise.all([
      import("../../../lib/secret/after-set.ts"),
      import("../../../lib/secret/render-set.ts"),
      whatElseHas(secret, { place, account, env }),
    ]);
    const set = {
      ...{ name: secret.name, path: place.path, owner: place.file.owner.name, mode: "0600", isNew },
      usedBy: secret.usedBy.map(({ command }) => command),
      next: nextSteps(secret),
      warnings: [...warningsAbout(secret, { value, isForRoot }), ...conflicts],
    };
    return { fields: set, text: (screen) => renderSecretSet(set, screen) };
  },
});

/** The value in the form that the secret needs; on a terminal it is asked for once more when it has another. */
async function askFor(secret: KnownSecret, env: Environment): Promise<Secret> {
  const { checkForm } = await import("../../../lib/secret/check-form.ts");
  if (!(await isTerminal(STDIN))) {
    const [{ readPiped }, { MAX_SECRET_BYTES }] = await Promise.all([
      import("../../prompt.ts"),
      import("../../../lib/platform/secrets/file.ts"),
    ]);
    return checkForm(secret, await readPiped(MAX_SECRET_BYTES), env);
  }
  const { askHidden } = await import("../../prompt.ts");
  const prompt = `${secret.name} (nothing is shown): `;
  const typed = await askHidden(prompt);
  try {
    return checkForm(secret, typed ?? new Uint8Array(), env);
  } catch (error) {
    const { message, hint } = error as OpsError;
    // Without a line there is no one who would type another.
    if (hint === undefined || typed === null) throw error;
    const { redact } = await import("../../../lib/platform/secrets/redact.ts");
    writeErr(redact(`${message}\n${hint}\nOnce more, please.\n`));
    return checkForm(secret, (await askHidden(prompt)) ?? new Uint8Array(), env);
  }
}
