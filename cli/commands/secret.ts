import { KNOWN_SECRETS, type KnownSecret, knownSecret } from "../../lib/platform/config/known-secrets.ts";
import type { OpsError } from "../../lib/platform/errors.ts";
import { nearest } from "../../lib/platform/nearest.ts";
import type { Secret } from "../../lib/platform/secrets/secret.ts";
import { argument, flag } from "../args/options.ts";
import { defineCommand } from "../framework/command.ts";
import { isTerminal, writeErr } from "../output.ts";

const STDIN = 0;
const NAMES = KNOWN_SECRETS.map(({ name }) => name);

/**
 * `opsctl secret set`: puts a secret into a file of its own, whole or not at all.
 *
 * Behaviour: writes /etc/opsctl/secrets/<NAME> (opsctl 0600), or /etc/opsctl/root-secrets/<NAME> (root 0600), and the
 *            directory where it is missing. The value comes from the terminal, else from standard input.
 */
export const secretSet = defineCommand({
  staysRoot: true,
  notes:
    "Run it as root. The value is read from the terminal without showing it, or as one line from standard input.",
  args: {
    name: argument("Its name, as `opsctl secret list` shows it", {
      required: true,
      values: NAMES,
      check: nameFault,
    }),
    root: flag("Keep it for root alone, as HOSTING_TOKEN and MIGRATE_DATABASE_URL always are"),
  },
  unexpected: "the value is asked for, because the history and the list of processes would show it",
  example: "opsctl secret set DATABASE_URL",

  async run(args, { env }) {
    const secret = knownSecret(args.name) as KnownSecret;
    const set = await import("../../lib/secret/set.ts");
    const place = await set.placeToSet(secret, { isForRoot: args.root === true, env });
    const check = (bytes: Uint8Array) => set.checkForm(secret, bytes, env);
    const fields = await set.setSecret(place, secret, () => askFor(secret, check));
    const { renderSecretSet } = await import("../../lib/secret/render.ts");
    return { fields, text: (screen) => renderSecretSet(fields, screen) };
  },
});

/** `opsctl secret list`: which secrets are there; their files are not opened, and `OPSCTL_SECRETS_COMMAND` is not run. */
export const secretList = defineCommand({
  staysRoot: true,
  notes: "Never shows a value. As root it sees all of them.",
  args: {},
  example: "opsctl secret list",

  async run(_args, { env }) {
    const [{ findServiceAccount }, { listSecrets }, { renderSecretList }] = await Promise.all([
      import("../../lib/platform/privileges.ts"),
      import("../../lib/secret/list.ts"),
      import("../../lib/secret/render.ts"),
    ]);
    const list = listSecrets(env, await findServiceAccount(), Date.now());
    return { fields: list, text: (screen) => renderSecretList(list, screen, env) };
  },
});

/** Why a word is no name of a secret; the text does not repeat it, because it may be a value. */
function nameFault(word: string): string | undefined {
  if (knownSecret(word) !== null) return undefined;
  if (word === "OPSCTL_PING_URL")
    return `${word} belongs into the environment file of its command: each command has another one`;
  const near = nearest(word, NAMES);
  return `is no secret of opsctl${near === undefined ? "; opsctl secret list shows them" : `; did you mean ${near}?`}`;
}

/** The value in the form that the secret needs; on a terminal it is asked for once more when it has another. */
async function askFor({ name }: KnownSecret, check: (bytes: Uint8Array) => Secret): Promise<Secret> {
  const { askHidden, readPiped } = await import("../prompt.ts");
  if (!isTerminal(STDIN)) {
    const { MAX_SECRET_BYTES } = await import("../../lib/platform/secrets/adapter.ts");
    return check(await readPiped(MAX_SECRET_BYTES));
  }
  const prompt = `${name} (nothing is shown): `;
  const typed = await askHidden(prompt);
  // Without a line there is no one who would type another.
  if (typed === null) return check(new Uint8Array());
  try {
    return check(typed);
  } catch (error) {
    const { message, hint } = error as OpsError;
    if (hint === undefined) throw error;
    const { redact } = await import("../../lib/platform/secrets/redact.ts");
    writeErr(redact(`${message}\n${hint}\nOnce more, please.\n`));
    return check((await askHidden(prompt)) ?? new Uint8Array());
  }
}
