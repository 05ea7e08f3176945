import type { Environment } from "../secrets/adapter.ts";
import { ROOT_SECRETS } from "../secrets/root-secrets.ts";
import { ALL_SETTINGS, isSecret, type Reader, readersOf, settingOf } from "./settings-table.ts";

/** Every secret that opsctl reads, in the order in which an installation needs them. */
export const KNOWN_SECRETS = ALL_SETTINGS.filter(([, row]) => isSecret(row)).map(([name, row]) => {
  const reader = ROOT_SECRETS.includes(name) ? "root" : "opsctl";
  return { ...row, name, reader, usedBy: readersOf(row) };
});

/** A secret, its row of the table of settings, and the account that reads its file. */
export type KnownSecret = (typeof KNOWN_SECRETS)[number];

/** The secret of this name; null when opsctl has none. */
export function knownSecret(name: string): KnownSecret | null {
  return KNOWN_SECRETS.find((secret) => secret.name === name) ?? null;
}

/** Whether a command with these settings needs what it reads. */
export function isNeeded({ isRequired, neededWith }: Reader, env: Environment): boolean {
  if (neededWith === null) return isRequired;
  const value = (env[neededWith] ?? "").trim();
  return settingOf(neededWith)?.kind === "switch" ? value === "1" : value !== "";
}
