/** Directory of the secrets that root itself uses; no other account can enter it. */
export const ROOT_SECRETS_DIR = "/etc/opsctl/root-secrets";

/** The secrets that root alone uses. */
export const ROOT_SECRETS: readonly string[] = ["HOSTING_TOKEN", "MIGRATE_DATABASE_URL"];
