import { commandFile } from "../env-files/command-file.ts";
import { KNOWN_SECRETS } from "./known-secrets.ts";
import { PROXY_VARIABLES, START_VARIABLES } from "./runtime-variables.ts";

/** What every command reads, and what the programs around it do: systemd, the terminal, the runtime. */
const EVERYWHERE: readonly string[] = [
  ...["OPSCTL_LOG_LEVEL", "OPSCTL_ENV_DIR", "OPSCTL_SECRETS_DIR", "OPSCTL_SECRETS_COMMAND"],
  ...["OPSCTL_ALLOW_PLAIN_HTTP", "NO_COLOR", "COLUMNS", "TERM", "CREDENTIALS_DIRECTORY"],
  ...PROXY_VARIABLES,
  ...START_VARIABLES,
];

const MESSAGING = ["MESSAGING_API_URL", "MESSAGING_PHONE", "MESSAGING_INSTANCE"];

/** What the commands that read a file take from it, but for secrets and what all of them read. */
const PLAIN: Readonly<Record<string, readonly string[]>> = {
  "weekly.env": [
    ...["APP_BASE_URL", "GATEWAY_URL", "EMAIL_API_URL", "WEEKLY_REPORT_UNSUBSCRIBE"],
    ...["WHATSAPP_REPORT_SENDER_TENANT_ID", "WHATSAPP_REPORT_MESSAGES_PER_MINUTE"],
    ...["WEEKLY_REPORT_EMAIL_SENDER_TENANT_ID", "SOCIAL_EDITORIALS_ENABLED"],
    ...["SOCIAL_EDITORIALS_MAX_LLM_CALLS", "OPSCTL_ALERT_WEBHOOK", "OPSCTL_WEBHOOK_ENV_FILE"],
    ...["OPSCTL_PING_URL", "OPSCTL_LOG_DIR"],
  ],
  "webhook.env": [
    ...MESSAGING,
    ...["ISSUE_TRACKER_URL", "ISSUE_TRACKER_TEAM_ID", "ISSUE_TRACKER_COMMENTS"],
    ...["ALERT_EMAIL_TO", "ALERT_EMAIL_FROM", "ALERT_EMAIL_API_URL"],
    ...["OPSCTL_PING_URL", "OPSCTL_STATE_DIR", "STATE_DIRECTORY"],
  ],
  "alert-rules.env": [
    ...["MONITORING_URL", "MONITORING_FOLDER_UID", "MONITORING_PROMETHEUS_UID", "MONITORING_LOKI_UID"],
    ...["MONITORING_RECEIVER", "MONITORING_FALLBACK_RECEIVER"],
    ...["OPSCTL_WEBHOOK_ENV_FILE", "OPSCTL_LOG_DIR"],
  ],
  "collect-metrics.env": [
    ...["TEXTFILE_DIR", "PROXY_CONTAINER", "DOCKER_HOST", "HOSTING_API_URL", "HOSTING_TEAM_ID"],
    ...["HOSTING_PROJECTS", "OPSCTL_PING_URL", "OPSCTL_LOG_DIR"],
  ],
  "socket-monitor.env": [
    ...MESSAGING,
    ...["OPSCTL_WEBHOOK_ENV_FILE", "OPSCTL_STATE_DIR", "STATE_DIRECTORY", "OPSCTL_LOG_DIR", "TEXTFILE_DIR"],
  ],
};

/** Those that other programs read, too: a name like theirs is seldom a slip of the pen. */
const OF_OTHER_PROGRAMS: ReadonlySet<string> = new Set([
  ...["NO_COLOR", "COLUMNS", "TERM", "CREDENTIALS_DIRECTORY", "STATE_DIRECTORY", "DOCKER_HOST"],
  ...PROXY_VARIABLES,
  ...START_VARIABLES,
]);

/** The environment files, by name. */
export const SETTINGS_FILES: readonly string[] = Object.keys(PLAIN);

/** Every variable that a command reads in the environment file of this name. */
export function settingsOfFile(file: string): string[] {
  return [...plainSettingsOfFile(file), ...secretsOfFile(file), ...EVERYWHERE];
}

/** Those of them that are not secrets, and so are never read from a secret's own file. */
export function plainSettingsOfFile(file: string): readonly string[] {
  return PLAIN[file] ?? [];
}

/** Whether other programs read a variable of this name, too. */
export function isOfOtherPrograms(name: string): boolean {
  return OF_OTHER_PROGRAMS.has(name);
}

function secretsOfFile(file: string): string[] {
  return KNOWN_SECRETS.filter(({ usedBy }) =>
    usedBy.some(({ command, alsoIn }) => commandFile(command) === file || alsoIn === file),
  ).map(({ name }) => name);
}
