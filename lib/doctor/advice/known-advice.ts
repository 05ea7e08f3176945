import { basename } from "node:path";
import { EXPLAIN, STEP_COMMANDS } from "../../ledger/week-steps.ts";
import { isRootsFile } from "../../platform/config/env-files/command-file.ts";
import { KNOWN_SECRETS } from "../../platform/config/names/known-secrets.ts";
import { plainSettingsOfFile, SETTINGS_FILES } from "../../platform/config/names/known-settings.ts";
import { oddSettings, oddSettingTexts } from "../../platform/config/names/odd-settings.ts";
import { namedUrl } from "../../platform/config/settings/about-url.ts";
import { databaseHints } from "../../platform/database/error.ts";
import { ROOT_SECRETS } from "../../platform/secrets/file.ts";
import { ALERT_GATEWAY, gatewayMends, WEEKLY_GATEWAY } from "../../providers/evolution/advice.ts";
import { DOCTOR_COMMANDS, NEXT_MONDAY, SET_CLOCK } from "../finding.ts";
import { ODD_PATH } from "./safe-mend.ts";

/** A slot for a path, which the caller judges: any file, or a directory of secrets. */
export type PathSlot = "path" | "secretsdir";

const PATH = "/[\\w.@%+,=/-]*[\\w@%+=/-]";
const PLAIN_SETTINGS = [...new Set(SETTINGS_FILES.flatMap(plainSettingsOfFile))];
const SECRETS = KNOWN_SECRETS.map(({ name }) => name);
/** Who needs a file of secrets, in the words of its reader. */
const READERS = ["opsctl", "opsctl doctor", "the socket monitor", "the weekly run", "the alert rules"];

/** What stands for `{name}` in the lines below; none can hold a quote or what a shell reads. */
const SLOTS: Readonly<Record<string, string>> = {
  variable: oneOf([...PLAIN_SETTINGS, ...SECRETS]),
  plain: oneOf(PLAIN_SETTINGS),
  secret: oneOf(SECRETS),
  reader: oneOf(READERS),
  path: PATH,
  secretsdir: PATH,
  number: "\\d{1,9}",
  command: oneOf(DOCTOR_COMMANDS),
} satisfies Record<PathSlot, string> & Record<string, string>;

/**
 * The account's files and directories, and the program by which its own settings have secrets looked up: what is put
 * there, the account reads.
 */
const PLACE = /\{(?:path|secretsdir)\}|OPSCTL_SECRETS_COMMAND/;

/** About the settings and secrets. */
const SETTINGS = [
  "Check {variable} and the network",
  "Correct {variable} in {path}",
  "Correct {variable} where OPSCTL_SECRETS_COMMAND gets it",
  "Correct {variable} where OPSCTL_SECRETS_COMMAND gets it, then systemctl reload opsctl-webhook.service",
  "Correct {variable}, or {variable} in {path}",
  "Correct {variable} in {path}, then systemctl reload opsctl-webhook.service",
  "Correct line {number} of {path}",
  ODD_PATH,
  "Give the editorial route a secret of its own, equal to CRON_SECRET in the editorial worker",
  "Make {variable} here the one of the webhook: opsctl secret set {secret}, then systemctl reload opsctl-webhook.service",
  "Remove it from {path}",
  "Remove it there, then: opsctl secret set SOCIAL_EDITORIALS_CRON_SECRET",
  "Remove one of the two in {path}",
  "Set each by its command, as root, or as a file of its name in {secretsdir} with mode 0600",
  "Set it by that command, as root, or as a file of its name in {secretsdir} with mode 0600",
  "Set it in the environment",
  "Set them in the environment",
  "Set them in the environment; a secret by its command, or as a file of its name in {secretsdir} with mode 0600",
  "Set them in {path}, the webhook's environment file",
  "Set {variable} in {path}",
  "Set {variable} in {path}, the webhook's environment file",
  "Set {variable} in {path} to the address of a check, then systemctl reload opsctl-webhook.service",
  "Set {variable} in {path} to the one that sends",
  "Set {variable} and {variable} in {path}, then opsctl secret set {secret}",
  "Set {variable}, {variable} and {variable} in {path}",
  "Set {plain} in {path} instead",
  "Store the value alone, on one line",
  "opsctl secret set {secret}",
  "opsctl secret set {secret}, then systemctl reload opsctl-webhook.service",
  "Run the command by hand, as the account that runs opsctl, with the one argument {secret}; for a secret it does not have it must print nothing and end with 0",
  "Give the account that runs {reader} a regular file with mode 0600 or 0400, or remove it",
  "Keep the file in a directory that belongs to root or to the account that runs opsctl, and give it to that account",
];

const URLS = ["DATABASE_URL", "MIGRATE_DATABASE_URL", "OPSCTL_STATE_URL"];

/** About the database; `known-sql.ts` has the statements. */
const DATABASE = [
  ...URLS.flatMap((name) => databaseHints().map((hint) => namedUrl(hint, name))),
  "Apply the application's own migrations to this database, or correct DATABASE_URL",
  "Bring the platform's auth.uid(), which answers the id of who is signed in as uuid",
  "Connect as the owner of the schema",
  "Expected postgres://user:password@host:5432/database with special characters percent-encoded",
  "Look at the database: the run goes on, or ends, by itself",
  "Make one for it: create database <name> encoding 'UTF8' template template0;",
  "Run opsctl migrate, with the login of the schema's owner",
  "Upgrade the database server",
  "Use the opsctl that migrated this database, or a newer one",
  "Use the version of opsctl that migrated this database, or a newer one",
  "opsctl migrate",
];

/** About the peers: gateway, e-mail, tracker, application and platform. */
const PEERS = [
  ...[WEEKLY_GATEWAY, ALERT_GATEWAY].flatMap(gatewayMends),
  "Check {variable} and that the gateway runs",
  "Check {variable}, {variable} and the network",
  "Create it, or correct {variable} in {path}",
  "Give the service account the role Editor, or a finer one",
  "Let the service account read notification settings, or look at a rule's page on the platform",
  "Look up {number} in Meta's list of error codes (WhatsApp Business Platform)",
  "Look up {number} in Meta's list of error codes (WhatsApp Business Platform), and mend the account in Meta's Business Manager",
  "Mend users.phone and users.email of the tenants that it names: opsctl weekly --dry-run --json",
  "On the platform, make a contact point with an address that is read, then opsctl alert-rules apply --with-extras --fallback-receiver <that contact point>",
  "Set tenant_config.config.email of the central tenant: an address, and verification_status verified",
  "Wait, and send less at a time; WhatsApp Manager shows the account's limits and quality",
  "opsctl alert-rules apply --with-extras",
  "opsctl alert-rules apply --with-extras --fallback-receiver <another contact point>",
  "opsctl alert-rules apply --with-extras --receiver <contact point>",
  "opsctl alert-rules apply --with-extras --receiver <contact point> --fallback-receiver <another contact point>",
  "opsctl alert-rules contact-point apply --url https://<alert host>/webhook",
  "opsctl alert-rules contact-point apply --url https://<alert host>/webhook, then opsctl alert-rules apply --with-extras",
  "opsctl alert-rules contact-point apply --url https://<alert host>/webhook, then opsctl alert-rules apply --with-extras --receiver <contact point>",
];

/** About this host, its units and files, and about what the commands have left. */
const HOST = [
  ...[NEXT_MONDAY, SET_CLOCK, ...Object.values(STEP_COMMANDS), ...Object.values(EXPLAIN)],
  "A newer opsctl made it: use that one on every host",
  "Install the opsctl that made it, or a newer one",
  "Give it a group of its own (groupadd --system opsctl; usermod -g opsctl opsctl), and see getent passwd opsctl",
  "Let it create a schema in this database, or: create schema opsctl_state authorization <login>;",
  "Look at it first: ls -l {path}: a link is there; remove it unless you made it",
  "Look at it: file {path}",
  "Look at it: ls -ld {path}",
  "Make room: df -h {path}",
  "Name an earlier Monday, or leave --week out for the last closed week",
  "Make {path} a directory that this account may write to",
  "Name a directory that belongs to the account that runs opsctl, and to no other",
  "Restart the service: it moves a damaged file aside and carries over what is readable",
  "Run getent passwd opsctl",
  "See that the directory services of /etc/nsswitch.conf answer: getent passwd opsctl",
  "See the end of /var/log/opsctl/weekly.log for what failed",
  "What it needs: opsctl doctor {command}",
  'Who sent it: journalctl -u opsctl-webhook.service -g "A request was refused" -n 5; if it was the platform: opsctl alert-rules contact-point apply --rotate --url https://<alert host>/webhook',
  "apt-get install iproute2",
  "df -h {path}: make room on its disk, the service opens it by itself then",
  "grep opsctl /etc/cron.d/opsctl; systemctl status cron",
  "journalctl -u opsctl-webhook.service -n 50",
  "opsctl reports status; mend what it names, then opsctl weekly",
  "opsctl reports status; opsctl deliveries look-up --all",
  "opsctl webhook dead list, then opsctl webhook dead retry --all",
  "opsctl webhook dead list, then opsctl webhook dead retry --row <id> of each",
  "opsctl webhook dead list, then retry or drop each",
  "opsctl weekly replaces it",
  "systemctl edit opsctl-webhook.service: below [Service] write ReadWritePaths={path}, then systemctl restart opsctl-webhook.service",
  "systemctl start opsctl-webhook.service, then run again: the service is asked instead",
  "systemctl start opsctl-webhook.socket opsctl-webhook.service",
  "systemctl status opsctl-webhook; or correct {variable} in {path}",
  "timedatectl set-ntp true, on the host and on the database server",
];

/** What the webhook's checks add to the advice about a peer. */
const ADDED = "; the service goes on by itself within a minute";

/** All of them, with a `{slot}` for each value. */
export const KNOWN_LINES: readonly string[] = [...SETTINGS, ...DATABASE, ...PEERS, ...HOST];

const KNOWN = KNOWN_LINES.map(patternOf);

/**
 * Whether a text is one of the sentences and commands with which the checks advise, but for SQL and for lines that
 * change a file.
 *
 * Behaviour: a word for word match, apart from numbers, names that opsctl knows, and paths, each of which `isAllowed`
 *            judges. A text that is not listed here is shown as what the account says.
 */
export function isKnownAdvice(text: string, isAllowed: (path: string, slot: PathSlot) => boolean): boolean {
  if (isAboutOddSetting(text, isAllowed)) return true;
  const namesRoots = ROOT_SECRETS.some((name) => text.includes(name));
  return KNOWN.some(({ pattern, slots, isOfPlace }) => {
    const found = pattern.exec(text);
    if (found === null || (isOfPlace && namesRoots)) return false;
    return slots.every((slot, at) => isAllowed(found[at + 1] as string, slot));
  });
}

const ODD_SETTING = new RegExp(`^(?:Move|Rename|Take) (\\w+)\\b.*: edit (${PATH})$`);

/** What is advised about a name that has no effect, as opsctl advises it for that name and that file. */
function isAboutOddSetting(advice: string, isAllowed: (path: string, slot: PathSlot) => boolean): boolean {
  const [, name, path] = ODD_SETTING.exec(advice) ?? [];
  if (name === undefined || path === undefined || !isAllowed(path, "path")) return false;
  const { told } = oddSettings(basename(path), [name]);
  // What is moved to a file of the account, the account reads.
  if (ROOT_SECRETS.includes(name) && !told.every(({ readIn }) => readIn.every(isRootsFile))) return false;
  return told.some((odd) => advice === `${oddSettingTexts(odd).todo}: edit ${path}`);
}

type KnownLine = { pattern: RegExp; slots: PathSlot[]; isOfPlace: boolean };

function patternOf(line: string): KnownLine {
  const parts = line.split(/\{([a-z]+)\}/);
  const slots = parts.filter((part, at) => at % 2 === 1 && isPathSlot(part)) as PathSlot[];
  const patternOfPart = (part: string, at: number) => {
    if (at % 2 === 0) return literal(part);
    return isPathSlot(part) ? `(${SLOTS[part]})` : `${SLOTS[part]}`;
  };
  const pattern = new RegExp(`^${parts.map(patternOfPart).join("")}${oneOf([ADDED])}?$`);
  return { pattern, slots, isOfPlace: PLACE.test(line) };
}

function isPathSlot(name: string): name is PathSlot {
  return ["path", "secretsdir"].includes(name);
}

function oneOf(names: readonly string[]): string {
  return `(?:${names.map(literal).join("|")})`;
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
