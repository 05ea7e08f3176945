/** A directory of secrets that root owns, and places in it. */
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type KnownSecret, knownSecret } from "../../../lib/platform/config/known-secrets.ts";
import type { Account } from "../../../lib/platform/privileges.ts";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { type Place, placeOf } from "../../../lib/secret/place.ts";
import { checkForm, setSecret } from "../../../lib/secret/set.ts";

/** An account that stands for opsctl. */
export const READER: Account = { name: "opsctl", uid: 64_001, gid: 64_001, home: "/", groups: [64_001] };

const SECRET = knownSecret("TRIGGER_SECRET") as KnownSecret;

/** Puts a value in its place, as `secret set` does. */
export async function set(place: Place, value = "a-value"): Promise<{ isNew: boolean }> {
  return await setSecret(place, SECRET, async () => new Secret(value));
}

/** The value of a secret of opsctl as it would be set. */
export function checked(name: string, value: string | Uint8Array): string {
  const bytes = typeof value === "string" ? new TextEncoder().encode(value) : value;
  return checkForm(knownSecret(name)!, bytes, {}).open();
}

/** A folder of root's, with a directory of secrets as `make install` makes it. */
export type Places = {
  folder: string;
  secrets: string;
  of(name: string, reader?: Account | null): Place;
  [Symbol.dispose](): void;
};

/** Makes the folder; only root can. */
export function openPlaces(): Places {
  const folder = mkdtempSync(join(tmpdir(), "opsctl-places-"));
  chmodSync(folder, 0o755);
  const secrets = join(folder, "secrets");
  mkdirSync(secrets);
  chmodSync(secrets, 0o750);
  chownSync(secrets, 0, READER.gid);
  return {
    folder,
    secrets,
    of: (name, reader = READER) => placeOf(knownSecret(name)!, reader, { OPSCTL_SECRETS_DIR: secrets }),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
