import type { KindName } from "./kinds.ts";

/** The commands that have settings, by their first word, and the environment file that each of them reads. */
export const SETTINGS_FILES = {
  weekly: "weekly.env",
  reports: "weekly.env",
  deliveries: "weekly.env",
  migrate: "weekly.env",
  webhook: "webhook.env",
  "socket-monitor": "socket-monitor.env",
  "collect-metrics": "collect-metrics.env",
  "alert-rules": "alert-rules.env",
} as const;

/** One of these commands. */
export type SettingsCommand = keyof typeof SETTINGS_FILES;

/** The parts of opsctl on a host, in the order in which they are shown. */
export const PARTS = ["weekly", "webhook", "collector", "socket-monitor", "alert-rules"] as const;

/** One of these parts. */
export type PartName = (typeof PARTS)[number];

/** The part to which each command belongs. */
export const PART_OF: Readonly<Record<SettingsCommand, PartName>> = {
  ...{ weekly: "weekly", migrate: "weekly", reports: "weekly", deliveries: "weekly" },
  ...{ webhook: "webhook", "collect-metrics": "collector" },
  ...{ "socket-monitor": "socket-monitor", "alert-rules": "alert-rules" },
};

/**
 * One setting of opsctl.
 *
 * Shape: `commands` are those that read it, the one that it belongs to first, in parentheses where it is optional; `all`
 *        for what every command reads. `neededWith` names the setting with which a command needs it. `default` is its
 *        value where it is absent; `absent` says in words what its absence means. `expected` and `example` replace those
 *        of its kind, `sample` is its value in the sample file. `sharedFrom` is the environment file of another command
 *        in which it is looked for last. `restart` marks what a reload of the webhook does not change. `terminal` marks
 *        what no environment file sets.
 *        `link` is the page and section of docs/ that says more. `secret` is the account that reads its file, for a
 *        secret; `fromEnvironment` is false for one that no variable may have, `afterwards` what has to be done
 *        elsewhere when it changes.
 */
export type Setting = {
  kind: KindName;
  commands: "all" | readonly (SettingsCommand | `(${SettingsCommand})`)[];
  help: string;
  neededWith?: Partial<Record<SettingsCommand, string>>;
  default?: string;
  absent?: string;
  expected?: string;
  example?: string;
  sample?: string;
  sharedFrom?: "webhook.env";
  restart?: true;
  terminal?: true;
  link?: string;
  secret?: "opsctl" | "root";
  fromEnvironment?: false;
  afterwards?: string;
};

type Details = Omit<Setting, "kind" | "commands">;

/** A row with the types of its own values, from which `loadSettings` infers the type of the setting. */
function row<const K extends KindName, const D extends Details>(
  kind: K,
  commands: Setting["commands"],
  details: D,
): { kind: K; commands: Setting["commands"] } & D {
  return { kind, commands, ...details };
}

const EMAIL_PROVIDER = "https://api.resend.com";
const SENDER = { example: "https://gateway.example.com" } as const;

/** Every setting that opsctl reads, in the order in which an installation needs them. */
export const SETTINGS = {
  DATABASE_URL: row("database", ["weekly", "reports", "deliveries", "(migrate)"], {
    help: "PostgreSQL URL, as `service_role` or a member of it. `migrate` without `MIGRATE_DATABASE_URL` needs the owner's",
    link: "configuration.md#database-urls",
    secret: "opsctl",
  }),
  MIGRATE_DATABASE_URL: row("database", ["(migrate)"], {
    help: "login of the schema's owner, for `opsctl migrate`. root reads it before it becomes `opsctl`",
    absent: "`DATABASE_URL`",
    secret: "root",
  }),
  APP_BASE_URL: row("url", ["weekly", "(reports)", "(deliveries)"], {
    help: "base URL of the application's routes and of the links in messages",
  }),
  TRIGGER_SECRET: row("token", ["weekly"], {
    help: "bearer token of the weekly analysis route; equals the application's `VPS_TRIGGER_SECRET`",
    secret: "opsctl",
  }),
  WHATSAPP_REPORT_SENDER_TENANT_ID: row("uuid", ["weekly"], {
    help: "UUID of the tenant whose newest messaging instance sends the WhatsApp messages",
  }),
  GATEWAY_URL: row("url", ["weekly", "(deliveries)"], {
    help: "base URL of the messaging gateway (Evolution API v2); not needed with `--skip-whatsapp`",
    ...SENDER,
  }),
  GATEWAY_ADMIN_KEY: row("token", ["weekly", "(deliveries)"], {
    help: "key of the messaging gateway",
    secret: "opsctl",
  }),
  WHATSAPP_REPORT_MESSAGES_PER_MINUTE: row("count", ["(weekly)"], {
    help: "WhatsApp messages a minute; 20 is a careful start",
    absent: "as fast as the gateway takes them",
    link: "weekly.md#rates",
  }),
  WEEKLY_REPORT_EMAIL_SENDER_TENANT_ID: row("uuid", ["weekly"], {
    help: "UUID of the tenant whose `tenant_config.config.email` has the verified sender",
  }),
  WEEKLY_REPORT_UNSUBSCRIBE: row("unsubscribe", ["(weekly)", "(reports)"], {
    help: "where an owner stops the e-mails: `mailto:` and an address, or an https URL",
    absent: "no such link",
    link: "weekly.md#how-to-stop-the-e-mails",
  }),
  EMAIL_API_KEY: row("token", ["weekly", "(deliveries)"], {
    help: "key of the e-mail provider (Resend); one that may only send is enough",
    secret: "opsctl",
  }),
  EMAIL_READ_API_KEY: row("token", ["(deliveries)"], {
    help: "key with full access, for `opsctl deliveries look-up`: the provider shows sent e-mails to no key that may only send",
    absent: "`EMAIL_API_KEY`",
    secret: "opsctl",
  }),
  EMAIL_API_URL: row("url", ["(weekly)", "(deliveries)"], {
    help: "the e-mail provider",
    default: EMAIL_PROVIDER,
  }),
  SOCIAL_EDITORIALS_ENABLED: row("switch", ["(weekly)"], {
    help: "`1` drains the editorial adjustments after the reports",
    default: "off",
  }),
  SOCIAL_EDITORIALS_CRON_SECRET: row("token", ["(weekly)"], {
    neededWith: { weekly: "SOCIAL_EDITORIALS_ENABLED" },
    help: "equals `CRON_SECRET` of the editorial worker; never taken from the environment or a settings file",
    secret: "opsctl",
    fromEnvironment: false,
  }),
  SOCIAL_EDITORIALS_MAX_LLM_CALLS: row("multipleOfThree", ["(weekly)"], {
    help: "most model calls in a run, a multiple of 3",
    default: "30",
  }),
  OPSCTL_ALERT_WEBHOOK: row("url", ["(weekly)"], {
    help: "whole address of the webhook to which a failed run is announced",
    absent: "no announcement",
    expected: "the whole address of the webhook",
    example: "http://127.0.0.1:9300/webhook",
    sample: "http://127.0.0.1:9300/webhook",
    link: "weekly.md#a-failed-run-is-announced",
  }),
  WEBHOOK_SECRET: row("token", ["webhook", "(weekly)", "(alert-rules)"], {
    neededWith: { weekly: "OPSCTL_ALERT_WEBHOOK" },
    help: "what Grafana must send to the webhook; make it with `openssl rand -hex 32`",
    sharedFrom: "webhook.env",
    secret: "opsctl",
    afterwards: "opsctl alert-rules contact-point apply --rotate --url <address> gives it to the platform",
  }),
  WEBHOOK_SECRET_PREVIOUS: row("token", ["(webhook)"], {
    help: "the former `WEBHOOK_SECRET`, accepted as well until Grafana has the new one",
    link: "webhook.md#a-new-secret",
    secret: "opsctl",
  }),
  MESSAGING_API_URL: row("url", ["webhook", "socket-monitor"], {
    help: "base URL of the messaging gateway (Evolution API v2) that sends the alerts",
    ...SENDER,
    sharedFrom: "webhook.env",
  }),
  MESSAGING_API_KEY: row("token", ["webhook", "socket-monitor"], {
    help: "key of the messaging gateway that sends the alerts; one that opens only the sending instance is enough",
    sharedFrom: "webhook.env",
    secret: "opsctl",
  }),
  MESSAGING_PHONE: row("phone", ["webhook", "socket-monitor"], {
    help: "who receives the alerts: digits with country code",
    sharedFrom: "webhook.env",
  }),
  MESSAGING_INSTANCE: row("text", ["(webhook)", "(socket-monitor)"], {
    help: "the instance that sends",
    absent: "the only one that the key sees",
    sharedFrom: "webhook.env",
  }),
  ISSUE_TRACKER_TOKEN: row("token", ["webhook"], {
    help: "token of the issue tracker (Linear; a personal key begins with `lin_api_`)",
    secret: "opsctl",
  }),
  ISSUE_TRACKER_TEAM_ID: row("text", ["webhook"], {
    help: "UUID of the team that receives the issues",
    expected: "the UUID of the team that receives the issues",
  }),
  ISSUE_TRACKER_URL: row("url", ["(webhook)"], {
    help: "whole endpoint of the issue tracker",
    expected: "the tracker's whole endpoint",
    example: "https://api.linear.app/graphql",
    default: "https://api.linear.app/graphql",
  }),
  ISSUE_TRACKER_COMMENTS: row("switch", ["(webhook)"], {
    help: "`1` comments on an issue when its alert resolves",
    default: "off",
    restart: true,
    link: "webhook.md#issues-have-an-end",
  }),
  ALERT_EMAIL_TO: row("email", ["(webhook)"], {
    help: "fallback channel: who receives by e-mail the alerts that WhatsApp does not take",
    absent: "no fallback channel",
    link: "webhook.md#the-second-channel",
  }),
  ALERT_EMAIL_FROM: row("email", ["(webhook)"], {
    neededWith: { webhook: "ALERT_EMAIL_TO" },
    help: "sender of these e-mails, of a domain that is verified at the e-mail provider (Resend)",
  }),
  ALERT_EMAIL_API_KEY: row("token", ["(webhook)"], {
    neededWith: { webhook: "ALERT_EMAIL_TO" },
    help: "key for these e-mails, not the weekly run's; one that may only send is enough",
    secret: "opsctl",
  }),
  ALERT_EMAIL_API_URL: row("url", ["(webhook)"], {
    help: "the e-mail provider of the fallback channel",
    default: EMAIL_PROVIDER,
  }),
  WEBHOOK_PORT: row("port", ["(webhook)"], {
    help: "port of `POST /webhook`; `--port` wins over it. Another port also has to be in the socket unit and the firewall",
    default: "9300",
    restart: true,
  }),
  WEBHOOK_ADMIN_PORT: row("port", ["(webhook)"], {
    help: "port of page, health and metrics on 127.0.0.1, 0 turns it off; `--admin-port` wins over it",
    default: "9301",
    restart: true,
  }),
  OPSCTL_STATE_DIR: row("path", ["(webhook)", "(socket-monitor)"], {
    help: "queue and dedup of the webhook, dedup of the socket monitor. Another directory also needs `ReadWritePaths=` in the unit",
    absent: "the unit's `$STATE_DIRECTORY`, else `/var/lib/opsctl`",
    restart: true,
  }),
  OPSCTL_STATE_URL: row("database", ["(webhook)"], {
    help: "`postgres://…` keeps the webhook's state in a database that several hosts share",
    absent: "`OPSCTL_STATE_DIR`",
    restart: true,
    link: "configuration.md#database-urls",
    secret: "opsctl",
  }),
  SOCKET_THRESHOLD: row("count", ["(socket-monitor)"], {
    help: "alert when there are more TCP sockets than this; `--threshold` wins over it",
    default: "10000",
  }),
  MONITORING_URL: row("url", ["alert-rules"], {
    help: "address of Grafana",
    example: "https://metrics.example.com",
  }),
  MONITORING_TOKEN: row("token", ["alert-rules"], {
    help: "token of a service account of Grafana",
    secret: "opsctl",
  }),
  MONITORING_FOLDER_UID: row("platformUid", ["alert-rules"], {
    help: "uid of the folder that holds the rules; `--folder-uid` wins over it",
    absent: "a placeholder in `export`",
  }),
  MONITORING_PROMETHEUS_UID: row("platformUid", ["alert-rules"], {
    help: "uid of the metrics data source (Prometheus); `--prometheus-uid` wins over it",
    absent: "a placeholder in `export`",
  }),
  MONITORING_LOKI_UID: row("platformUid", ["alert-rules"], {
    help: "uid of the logs data source (Loki); `--loki-uid` wins over it",
    absent: "a placeholder in `export`",
  }),
  MONITORING_RECEIVER: row("contactPoint", ["(alert-rules)"], {
    help: "contact point that receives the rules; `--receiver` wins over it. `contact-point apply` needs it",
    absent: "the notification policies decide",
  }),
  MONITORING_FALLBACK_RECEIVER: row("contactPoint", ["(alert-rules)"], {
    help: "contact point of the rules on the webhook itself; `--fallback-receiver` wins over it",
    absent: "the notification policies decide",
  }),
  HOSTING_TOKEN: row("token", ["collect-metrics"], {
    help: "token of the hosting provider (Vercel)",
    secret: "root",
  }),
  HOSTING_TEAM_ID: row("text", ["(collect-metrics)"], {
    help: "id of the team that owns the projects",
    absent: "the token's own account",
  }),
  HOSTING_PROJECTS: row("count", ["(collect-metrics)"], {
    help: "how many projects the account has; `collect-metrics` and `doctor` warn about another number",
    default: "16",
  }),
  HOSTING_API_URL: row("url", ["(collect-metrics)"], {
    help: "the hosting provider",
    default: "https://api.vercel.com",
  }),
  PROXY_CONTAINER: row("container", ["(collect-metrics)"], {
    help: "exact name of the reverse proxy's container",
    default: "traefik",
  }),
  DOCKER_HOST: row("dockerHost", ["(collect-metrics)"], {
    help: "the container engine, `unix:///path` or `tcp://host:port`, which is plain",
    default: "unix:///var/run/docker.sock",
  }),
  TEXTFILE_DIR: row("path", ["(collect-metrics)", "(socket-monitor)"], {
    help: "where Grafana Alloy reads `custom_metrics.prom`; never created by opsctl",
    example: "/var/lib/node_exporter/textfile_collector",
    default: "/var/lib/node_exporter/textfile_collector",
  }),
  OPSCTL_PING_URL: row("pingUrl", ["(webhook)", "(weekly)", "(collect-metrics)"], {
    help: "a check elsewhere (healthchecks.io): the webhook pings it every minute, a run at its end, with /fail after a failure. Each command has its own, and it is a secret, so it has no file",
    absent: "no ping",
    link: "webhook.md#a-dead-mans-switch",
  }),
  OPSCTL_WEBHOOK_ENV_FILE: row("path", ["(socket-monitor)", "(weekly)", "(alert-rules)"], {
    help: "the webhook's settings file, where the commands look last for what they share with the webhook",
    absent: "`webhook.env` beside the other files",
  }),
  OPSCTL_LOG_DIR: row(
    "path",
    ["(weekly)", "(reports)", "(deliveries)", "(alert-rules)", "(collect-metrics)", "(socket-monitor)"],
    {
      help: "success heartbeat, last weekly run, last `alert-rules plan` and `socket_monitor.log`; never created by opsctl",
      default: "/var/log/opsctl",
    },
  ),
  OPSCTL_LOG_LEVEL: row("text", "all", {
    help: "`debug`, `info`, `warn` or `error`",
    default: "info",
    restart: true,
  }),
  OPSCTL_SECRETS_DIR: row("path", "all", {
    help: "directory with one file per secret; in a terminal also where `opsctl secret set` writes",
    absent: "`/etc/opsctl/secrets`, for root `/etc/opsctl/root-secrets`",
  }),
  OPSCTL_SECRETS_COMMAND: row("path", "all", {
    help: "an executable that is called with a secret's name and prints its value",
    absent: "none",
  }),
  OPSCTL_ALLOW_PLAIN_HTTP: row("switch", "all", {
    help: "`1` allows `http://` to hosts other than loopback, in clear text",
    default: "off",
  }),
  OPSCTL_ENV_DIR: row("path", "all", {
    help: "where the settings files are; set to nothing, none is read",
    default: "/etc/opsctl",
    terminal: true,
  }),
  NO_COLOR: row("text", "all", {
    help: "any value turns colours off on a terminal; files and pipes never have any",
    absent: "colours, unless `TERM=dumb`",
    terminal: true,
  }),
  COLUMNS: row("count", "all", {
    help: "width of tables and help, also in a pipe",
    absent: "the terminal's width",
    terminal: true,
  }),
} satisfies Readonly<Record<string, Setting>>;

/** The name of a setting. */
export type SettingName = keyof typeof SETTINGS;

/** A setting by its name; null where opsctl has none of this name. */
export function settingOf(name: string): Setting | null {
  return Object.hasOwn(SETTINGS, name) ? SETTINGS[name as SettingName] : null;
}

/** All settings, as pairs of name and row. */
export const ALL_SETTINGS: readonly (readonly [SettingName, Setting])[] = Object.entries(SETTINGS) as [
  SettingName,
  Setting,
][];

/** Names of the settings for which this holds. */
export function settingsWhere(holds: (setting: Setting, name: SettingName) => boolean): SettingName[] {
  return ALL_SETTINGS.flatMap(([name, setting]) => (holds(setting, name) ? [name] : []));
}

/** Whether a command reads a setting. */
export function isReadBy(setting: Setting, command: SettingsCommand): boolean {
  return setting.commands === "all" || readersOf(setting).some((reader) => reader.command === command);
}

/** The commands that read a setting, and whether they need it; none of what every command reads. */
export function readersOf({ commands }: Setting): { command: SettingsCommand; isRequired: boolean }[] {
  if (commands === "all") return [];
  return commands.map((word) => ({
    command: word.replace(/[()]/g, "") as SettingsCommand,
    isRequired: !word.startsWith("("),
  }));
}

/** Every environment file, once. */
export const ENV_FILES: readonly string[] = [...new Set(Object.values(SETTINGS_FILES))];

/** The directory of the environment files where `OPSCTL_ENV_DIR` is not set. */
export const DEFAULT_ENV_DIR = SETTINGS.OPSCTL_ENV_DIR.default;

/** The name of a command's environment file, given its words, or null for a command without one. */
export function commandFile(words: string): string | null {
  const [command = ""] = words.split(" ");
  return Object.hasOwn(SETTINGS_FILES, command) ? SETTINGS_FILES[command as SettingsCommand] : null;
}

/** Whether the environment file of this name belongs to root, not to the service account. */
export function isRootsFile(name: string): boolean {
  return name === SETTINGS_FILES["collect-metrics"];
}

/** The names of the settings that a command reads in the environment file of this name. */
export function settingsOfFile(file: string): string[] {
  const commands = Object.keys(SETTINGS_FILES) as SettingsCommand[];
  const readers = commands.filter((command) => SETTINGS_FILES[command] === file);
  return settingsWhere((setting) => readers.some((command) => isReadBy(setting, command)));
}
