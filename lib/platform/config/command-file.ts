/** The directory of the environment files where `OPSCTL_ENV_DIR` is not set. */
export const DEFAULT_ENV_DIR = "/etc/opsctl";

/** The environment file of each command that reads one itself; cron's lines load those of the others. */
const FILES: Readonly<Record<string, string>> = { webhook: "webhook.env", "alert-rules": "alert-rules.env" };

/** The name of the environment file that a command reads itself, given its words, or null. */
export function commandFile(words: string): string | null {
  const [command = ""] = words.split(" ");
  return Object.hasOwn(FILES, command) ? (FILES[command] as string) : null;
}
