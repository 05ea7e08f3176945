import type { KindName } from "./kinds.ts";

/**
 * The commands that have settings, in the order in which they are shown: the part of opsctl on a host that each belongs
 * to, and the environment file that it reads.
 */
export const COMMANDS = {
  weekly: { part: "weekly", file: "weekly.env" },
  webhook: { part: "webhook", file: "webhook.env" },
  "collect-metrics": { part: "collector", file: "collect-metrics.env" },
  "socket-monitor": { part: "socket-monitor", file: "socket-monitor.env" },
  "alert-rules": { part: "alert-rules", file: "alert-rules.env" },
  migrate: { part: "weekly", file: "weekly.env" },
  reports: { part: "weekly", file: "weekly.env" },
  deliveries: { part: "weekly", file: "weekly.env" },
} as const;

/** One of these commands. */
export type SettingsCommand = keyof typeof COMMANDS;

/** Their names. */
export const COMMAND_NAMES = Object.keys(COMMANDS) as SettingsCommand[];

/** The first command of a part, which is the one that runs on the host. */
export function commandOf(part: PartName): SettingsCommand {
  return COMMAND_NAMES.find((command) => COMMANDS[command].part === part)!;
}

/** One of these parts. */
export type PartName = (typeof COMMANDS)[SettingsCommand]["part"];

/** The parts of opsctl on a host, in the order in which they are shown. */
export const PARTS = [...new Set(COMMAND_NAMES.map((command) => COMMANDS[command].part))];

/**
 * One setting of opsctl.
 *
 * Shape: `commands` read it, the one that it belongs to first, in parentheses where it is optional, perhaps `with` the
 *        setting that makes it needed. `sample` is its value in the sample file. `isShared` marks what other commands look
 *        for last in the webhook's file, `restart` what a reload of the webhook does not change. `fromEnvironment` is
 *        false for a secret that no variable may have; `afterwards` says what else has to be done when it changes.
 */
export type Setting = {
  kind: KindName;
  commands:
    | "all"
    | readonly (SettingsCommand | `(${SettingsCommand})` | `(${SettingsCommand} with ${string})`)[];
  help: string;
  default?: string;
  sample?: string;
  isShared?: true;
  restart?: true;
  fromEnvironment?: false;
  afterwards?: string;
};

/** A row with the types of its own values, from which `loadSettings` infers the type of the setting. */
function row<const K extends KindName, const D extends Omit<Setting, "kind" | "commands">>(
  kind: K,
  commands: Setting["commands"],
  details: D,
) {
  return { kind, commands, ...details };
}

const RESEND = "https://api.resend.com";
const LINEAR = "https://api.linear.app/graphql";
const COLLECTOR = ["(collect-metrics)"] as const;
const SENDERS = ["webhook", "socket-monitor"] as const;
const LEDGER = ["(weekly)", "(reports)", "(deliveries)"] as const;
const LOGGERS = [...LEDGER, "(alert-rules)", "(collect-metrics)", "(socket-monitor)"] as const;

/** Every setting that opsctl reads, in the order in which an installation needs them. */
export const SETTINGS = {
  DATABASE_URL: row("database", ["weekly", "reports", "deliveries", "(migrate)"], {
    help: "PostgreSQL URL, as `service_role` or a member of it; `migrate` needs the schema's owner",
  }),
  MIGRATE_DATABASE_URL: row("database", ["(migrate)"], {
    help: "PostgreSQL URL of the schema's owner; without it `DATABASE_URL`",
  }),
  APP_BASE_URL: row("url", ["weekly", "(reports)", "(deliveries)"], { help: "base URL of the application" }),
  TRIGGER_SECRET: row("token", ["weekly"], { help: "equals the application's `VPS_TRIGGER_SECRET`" }),
  WHATSAPP_REPORT_SENDER_TENANT_ID: row("uuid", ["weekly"], { help: "tenant whose instance sends WhatsApp" }),
  GATEWAY_URL: row("url", ["weekly", "(deliveries)"], { help: "base URL of the gateway (Evolution API)" }),
  GATEWAY_ADMIN_KEY: row("token", ["weekly", "(deliveries)"], { help: "key of the gateway" }),
  WHATSAPP_REPORT_MESSAGES_PER_MINUTE: row("count", ["(weekly)"], {
    help: "most WhatsApp messages a minute, such as 20; without it no limit",
  }),
  WEEKLY_REPORT_EMAIL_SENDER_TENANT_ID: row("uuid", ["weekly"], { help: "tenant with the verified sender" }),
  WEEKLY_REPORT_UNSUBSCRIBE: row("unsubscribe", ["(weekly)", "(reports)"], {
    help: "where an owner stops the e-mails: `mailto:` and an address, or an https URL; without it no link",
  }),
  EMAIL_API_KEY: row("token", ["weekly", "(deliveries)"], {
    help: "key of Resend; sending access is enough",
  }),
  EMAIL_READ_API_KEY: row("token", ["(deliveries)"], {
    help: "key of Resend with full access, for `opsctl deliveries look-up`; without it `EMAIL_API_KEY`",
  }),
  EMAIL_API_URL: row("url", ["(weekly)", "(deliveries)"], { help: "base URL of Resend", default: RESEND }),
  SOCIAL_EDITORIALS_ENABLED: row("switch", ["(weekly)"], { help: "`1` drains the editorial adjustments" }),
  SOCIAL_EDITORIALS_CRON_SECRET: row("token", ["(weekly with SOCIAL_EDITORIALS_ENABLED)"], {
    help: "equals `CRON_SECRET` of the editorial worker; never taken from the environment or a settings file",
    fromEnvironment: false,
  }),
  SOCIAL_EDITORIALS_MAX_LLM_CALLS: row("multipleOfThree", ["(weekly)"], {
    help: "most model calls in a run, a multiple of 3",
    default: "30",
  }),
  OPSCTL_ALERT_WEBHOOK: row("url", ["(weekly)"], {
    help: "whole address of the webhook to which a failed run is announced",
    sample: "http://127.0.0.1:9300/webhook",
  }),
  WEBHOOK_SECRET: row("token", ["webhook", "(weekly with OPSCTL_ALERT_WEBHOOK)", "(alert-rules)"], {
    help: "what Grafana must send to the webhook; make it with `openssl rand -hex 32`",
    isShared: true,
    afterwards: "opsctl alert-rules contact-point apply --rotate --url <address>",
  }),
  WEBHOOK_SECRET_PREVIOUS: row("token", ["(webhook)"], { help: "accepted until Grafana has the new secret" }),
  MESSAGING_API_URL: row("url", SENDERS, { help: "gateway (Evolution API) for alerts", isShared: true }),
  MESSAGING_API_KEY: row("token", SENDERS, { help: "key of the gateway or of the instance", isShared: true }),
  MESSAGING_PHONE: row("phone", SENDERS, { help: "who receives alerts, with country code", isShared: true }),
  MESSAGING_INSTANCE: row("text", ["(webhook)", "(socket-monitor)"], {
    help: "the instance that sends; without it the only one that the key sees",
    isShared: true,
  }),
  ISSUE_TRACKER_TOKEN: row("token", ["webhook"], { help: "token of Linear, such as `lin_api_…`" }),
  ISSUE_TRACKER_TEAM_ID: row("text", ["webhook"], { help: "UUID of the team that receives the issues" }),
  ISSUE_TRACKER_URL: row("url", ["(webhook)"], { help: "GraphQL address of Linear", default: LINEAR }),
  ISSUE_TRACKER_COMMENTS: row("switch", ["(webhook)"], {
    help: "`1` comments on an issue when its alert resolves",
    restart: true,
  }),
  ALERT_EMAIL_TO: row("email", ["(webhook)"], {
    help: "address that gets alerts by e-mail when WhatsApp fails; it needs a sender and a key",
  }),
  ALERT_EMAIL_FROM: row("email", ["(webhook with ALERT_EMAIL_TO)"], {
    help: "sender of these e-mails, an address of a domain that Resend has verified",
  }),
  ALERT_EMAIL_API_KEY: row("token", ["(webhook with ALERT_EMAIL_TO)"], {
    help: "key for these e-mails, not the weekly run's; one that may only send is enough",
  }),
  ALERT_EMAIL_API_URL: row("url", ["(webhook)"], { help: "base URL of Resend", default: RESEND }),
  WEBHOOK_PORT: row("port", ["(webhook)"], { help: "port of POST /webhook", default: "9300", restart: true }),
  WEBHOOK_ADMIN_PORT: row("port", ["(webhook)"], {
    help: "port of page, health and metrics on 127.0.0.1; 0 turns it off",
    default: "9301",
    restart: true,
  }),
  OPSCTL_STATE_DIR: row("path", ["(webhook)", "(socket-monitor)"], {
    help: "queue and dedup; without it the unit's `$STATE_DIRECTORY`, else `/var/lib/opsctl`",
    restart: true,
  }),
  OPSCTL_STATE_URL: row("database", ["(webhook)"], {
    help: "`postgres://…` keeps the webhook's state in a database that several hosts share",
    restart: true,
  }),
  SOCKET_THRESHOLD: row("count", ["(socket-monitor)"], {
    help: "alert above so many sockets",
    default: "10000",
  }),
  MONITORING_URL: row("url", ["alert-rules"], { help: "address of Grafana" }),
  MONITORING_TOKEN: row("token", ["alert-rules"], { help: "token of a service account of Grafana" }),
  MONITORING_FOLDER_UID: row("grafanaUid", ["alert-rules"], { help: "folder that holds the rules" }),
  MONITORING_PROMETHEUS_UID: row("grafanaUid", ["alert-rules"], { help: "data source of the metrics" }),
  MONITORING_LOKI_UID: row("grafanaUid", ["alert-rules"], { help: "data source of the logs" }),
  MONITORING_RECEIVER: row("text", ["(alert-rules)"], {
    help: "contact point that receives the rules; without it the notification policies decide",
  }),
  MONITORING_FALLBACK_RECEIVER: row("text", ["(alert-rules)"], {
    help: "contact point of the rules on the webhook itself; without it the notification policies decide",
  }),
  HOSTING_TOKEN: row("token", ["collect-metrics"], { help: "token of Vercel" }),
  HOSTING_TEAM_ID: row("text", COLLECTOR, { help: "team that owns the projects, if one does" }),
  HOSTING_PROJECTS: row("count", COLLECTOR, { help: "how many projects there are", default: "16" }),
  HOSTING_API_URL: row("url", COLLECTOR, { help: "base URL of Vercel", default: "https://api.vercel.com" }),
  PROXY_CONTAINER: row("name", COLLECTOR, { help: "container of the reverse proxy", default: "traefik" }),
  DOCKER_HOST: row("dockerHost", COLLECTOR, {
    help: "address of the container engine: `unix:///path`, or `tcp://host:port` without encryption",
    default: "unix:///var/run/docker.sock",
  }),
  TEXTFILE_DIR: row("path", ["(collect-metrics)", "(socket-monitor)"], {
    help: "where Grafana Alloy reads `custom_metrics.prom`; never created by opsctl",
    default: "/var/lib/node_exporter/textfile_collector",
  }),
  OPSCTL_PING_URL: row("pingUrl", ["(webhook)", "(weekly)", "(collect-metrics)"], {
    help: "a check elsewhere (healthchecks.io): the webhook pings it every minute, a run at its end, with /fail after a failure. Each command has its own, and it is a secret, so it has no file",
  }),
  OPSCTL_WEBHOOK_ENV_FILE: row("path", ["(socket-monitor)", "(weekly)", "(alert-rules)"], {
    help: "the webhook's settings file; without it `webhook.env` beside the other files",
  }),
  OPSCTL_LOG_DIR: row("path", LOGGERS, {
    help: "heartbeat, last run, last `alert-rules plan` and `socket_monitor.log`; never created by opsctl",
    default: "/var/log/opsctl",
  }),
  OPSCTL_LOG_LEVEL: row("text", "all", { help: "debug, info, warn, error", default: "info", restart: true }),
  OPSCTL_SECRETS_DIR: row("path", "all", { help: "where the secrets are, a file for each" }),
  OPSCTL_SECRETS_COMMAND: row("path", "all", { help: "a program that prints the secret of a given name" }),
  OPSCTL_ALLOW_PLAIN_HTTP: row("switch", "all", { help: "`1` allows unencrypted `http://` to other hosts" }),
} satisfies Readonly<Record<string, Setting>>;

/** The name of a setting. */
export type SettingName = keyof typeof SETTINGS;

/** A setting by its name; null where opsctl has none of this name. */
export function settingOf(name: string): Setting | null {
  return Object.hasOwn(SETTINGS, name) ? SETTINGS[name as SettingName] : null;
}

/** All settings, as pairs of name and row. */
export const ALL_SETTINGS = Object.entries(SETTINGS) as readonly [SettingName, Setting][];

/** Names of the settings for which this holds. */
export function settingsWhere(holds: (setting: Setting, name: SettingName) => boolean): SettingName[] {
  return ALL_SETTINGS.flatMap(([name, setting]) => (holds(setting, name) ? [name] : []));
}

/** Whether a setting is looked for as a secret, in files and by the secrets command. */
export function isSecret({ kind }: Setting): boolean {
  return kind === "token" || kind === "database";
}

/** The environment file in which a command's setting belongs: the webhook's, for what is shared with it. */
export function fileOf(setting: Setting, command: SettingsCommand): string {
  return COMMANDS[setting.isShared ? "webhook" : command].file;
}

/** Whether a command reads a setting. */
export function isReadBy(setting: Setting, command: SettingsCommand): boolean {
  return readersOf(setting).some((reader) => reader.command === command);
}

/** A command that reads a setting; `neededWith` is the other setting with which it needs this one. */
export type Reader = { command: SettingsCommand; isRequired: boolean; neededWith: string | null };

/** The commands that read a setting. */
export function readersOf({ commands }: Setting): Reader[] {
  const all = COMMAND_NAMES.map((command) => `(${command})`);
  return (commands === "all" ? all : commands).map((word) => {
    const [command, neededWith = null] = word.replace(/[()]/g, "").split(" with ");
    return { command: command as SettingsCommand, isRequired: !word.startsWith("("), neededWith };
  });
}

/** Every environment file, once. */
export const ENV_FILES: readonly string[] = [
  ...new Set(COMMAND_NAMES.map((command) => COMMANDS[command].file)),
];

/** The directory of the environment files where `OPSCTL_ENV_DIR` is not set. */
export const DEFAULT_ENV_DIR = "/etc/opsctl";

/** The name of a command's environment file, given its words, or null for a command without one. */
export function commandFile(words: string): string | null {
  const [command = ""] = words.split(" ");
  return Object.hasOwn(COMMANDS, command) ? COMMANDS[command as SettingsCommand].file : null;
}

/** The names of the settings that a command reads in the environment file of this name. */
export function settingsOfFile(file: string): string[] {
  return settingsWhere((setting) =>
    readersOf(setting).some(({ command }) => COMMANDS[command].file === file),
  );
}
