/** The directory of the environment files where `OPSCTL_ENV_DIR` is not set. */
export const DEFAULT_ENV_DIR = "/etc/opsctl";

/** The environment file of each command; those that work on the weekly reports share one. */
const FILES: Readonly<Record<string, string>> = {
  weekly: "weekly.env",
  reports: "weekly.env",
  deliveries: "weekly.env",
  migrate: "weekly.env",
  webhook: "webhook.env",
  "alert-rules": "alert-rules.env",
  "collect-metrics": "collect-metrics.env",
  "socket-monitor": "socket-monitor.env",
};

/** The files that root reads itself; all others belong to the service account. */
const OF_ROOT: readonly string[] = ["collect-metrics.env"];

/** The name of a command's environment file, given its words, or null for a command without one. */
export function commandFile(words: string): string | null {
  const [command = ""] = words.split(" ");
  return Object.hasOwn(FILES, command) ? (FILES[command] as string) : null;
}

/** Whether the environment file of this name belongs to root, not to the service account. */
export function isRootsFile(name: string): boolean {
  return OF_ROOT.includes(name);
}
