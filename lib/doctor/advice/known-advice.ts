import { basename } from "node:path";
import { isRootsFile } from "../../platform/config/env-files/command-file.ts";
import { KNOWN_SECRETS } from "../../platform/config/names/known-secrets.ts";
import { plainSettingsOfFile, SETTINGS_FILES } from "../../platform/config/names/known-settings.ts";
import { oddSettings, oddSettingTexts } from "../../platform/config/names/odd-settings.ts";
import { ROOT_SECRETS } from "../../platform/secrets/file.ts";
import { checksFor } from "../checks/all.ts";
import { PEER_NAMES } from "../checks/peers/peer-names.ts";
import { DOCTOR_COMMANDS } from "../finding.ts";
import { ODD_PATH } from "./safe-mend.ts";

/** A slot for a path, which the caller judges: any file, a directory of secrets, the directory of the environment files. */
export type PathSlot = "path" | "secretsdir" | "envdir";

const PATH = "/[\\w.@%+,=/-]*[\\w@%+=/-]";
const PLAIN_SETTINGS = [...new Set(SETTINGS_FILES.flatMap(plainSettingsOfFile))];
const SECRETS = KNOWN_SECRETS.map(({ name }) => name);
const ACCOUNT_SECRETS = SECRETS.filter((name) => !ROOT_SECRETS.includes(name));
/** Who needs a file of secrets, in the words of its reader. */
const READERS = ["opsctl", "opsctl doctor", "the socket monitor", "the weekly run", "the alert rules"];

/** What stands for `{name}` in the lines below; none can hold a quote or what a shell reads. */
const SLOTS: Readonly<Record<string, string>> = {
  variable: oneOf([...PLAIN_SETTINGS, ...SECRETS]),
  plain: oneOf(PLAIN_SETTINGS),
  secret: oneOf(SECRETS),
  reader: oneOf(READERS),
  peer: oneOf(PEER_NAMES),
  check: oneOf(checksFor(DOCTOR_COMMANDS, { isNamed: true }).map(({ name }) => name)),
  path: PATH,
  secretsdir: PATH,
  envdir: PATH,
  number: "\\d{1,9}",
  command: oneOf(DOCTOR_COMMANDS),
} satisfies Record<PathSlot, string> & Record<string, string>;

/** The same where the line names a place of the account: what is put there, the account reads. */
const SLOTS_IN_PLACE: Readonly<Record<string, string>> = {
  ...SLOTS,
  variable: oneOf([...PLAIN_SETTINGS, ...ACCOUNT_SECRETS]),
  secret: oneOf(ACCOUNT_SECRETS),
};
/** Its files and directories, and the program by which its own settings have secrets looked up. */
const PLACE = /\{(?:path|secretsdir)\}|OPSCTL_SECRETS_COMMAND/;

/** About the settings and secrets. */
const SETTINGS = [
  "Check {variable} and the network",
  "Correct {variable} (opsctl secret set {secret}, then systemctl reload opsctl-webhook.service)",
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
  "Set {variable} to the one that sends",
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

/** About the database; `known-sql.ts` has the statements. */
const DATABASE = [
  "A database on another host is verified (sslmode=verify-full) unless {variable} says otherwise. For a private authority add sslrootcert=/path/to/its/certificate.pem to {variable} (sslrootcert=system for the host's own store); sslmode=require encrypts without asking who answers",
  "A database on another host needs TLS unless {variable} says otherwise: turn it on there (ssl = on) and name its authority with sslrootcert where that is a private one; sslmode=disable sends everything unencrypted",
  "Apply the application's own migrations to this database, or correct DATABASE_URL",
  "Bring the platform's auth.uid(), which answers the id of who is signed in as uuid",
  "Check host, port and sslmode in {variable} and that the server accepts connections",
  "Check the database name in {variable}",
  "Check user and password in {variable}, and the server's access rules; opsctl secret set {secret} writes another",
  "Connect as service_role or a member of it; `opsctl migrate` runs as the owner",
  "Connect as the owner of the schema",
  "Expected postgres://user:password@host:5432/database with special characters percent-encoded",
  "Give the server a certificate for servers, signed by an authority; sslmode=require in {variable} encrypts without asking who answers, and sslrootcert does not help here",
  "Look at the database: the run goes on, or ends, by itself",
  "Look for a session that holds a lock (pg_locks), and whether the server still answers; then run again",
  "Make one for it: create database <name> encoding 'UTF8' template template0;",
  "Renew the certificate on the server, or set this host's clock; sslmode=require in {variable} encrypts without asking who answers, and sslrootcert does not help here",
  "Run `opsctl migrate` and check that {variable} names the right database",
  "Run opsctl migrate, with the login of the schema's owner",
  "The connection broke on the way; run the command again once the database is back",
  "The server is there, and starts, stops or recovers: look at its log, then run again",
  "The server takes no writes: it is a replica, in the middle of a failover, or set read-only. Check that {variable} leads to the primary, then run again",
  "The server, or this login, has no connection left: look at who holds them (pg_stat_activity) and at the limits, then run again",
  "Upgrade the database server",
  "Use the opsctl that migrated this database, or a newer one",
  "Use the version of opsctl that migrated this database, or a newer one",
  "Write sslmode=verify-full in {variable} (with sslrootcert for a private authority), or let the server ask by scram-sha-256 (pg_hba.conf)",
  "Write the host as the certificate names it. To leave the name unchecked, sslmode=verify-ca with sslrootcert=/path/to/the/authority.pem in {variable} still proves who signed it",
  "sslrootcert in {variable} is a file with certificates in PEM that the account of this command may read, or system for the host's own store; without it sslmode=verify-full trusts the public authorities",
  "opsctl migrate",
];

/** About the peers: gateway, e-mail, tracker, application and platform. */
const PEERS = [
  "Activate the gateway's licence: open /manager/login below {variable} in a browser",
  "Check {variable} and that the gateway runs",
  "Check {variable}, {variable} and the network",
  "Connect an instance to the tenant of {variable} in the application",
  "Correct the instance's name or {variable}",
  "Correct {variable}: the gateway's own base address",
  "Create it, or correct {variable} in {path}",
  "Create the instance in the gateway and pair its phone, or correct the instance's name",
  "Create the instance in the gateway, or pair its phone again",
  "Give the instance in the gateway a new, lasting token of the Meta account",
  "Give the service account the role Editor, or a finer one",
  "Let the recipient write to the sending number, or send through an instance with a paired phone",
  "Let the service account read notification settings, or look at a rule's page on the platform",
  "Look at the gateway's database and at the gateway's log",
  "Look at the gateway's log, and whether {variable} leads to it (http or https, port)",
  "Look at the log of the gateway and at what stands between it and {variable}",
  "Look up {number} in Meta's list of error codes (WhatsApp Business Platform)",
  "Look up {number} in Meta's list of error codes (WhatsApp Business Platform), and mend the account in Meta's Business Manager",
  "Look whether the gateway hangs or {variable} leads elsewhere",
  "Mend users.phone and users.email of the tenants that it names: opsctl weekly --dry-run --json",
  "On the platform, make a contact point with an address that is read, then opsctl alert-rules apply --with-extras --fallback-receiver <that contact point>",
  "Open the gateway's manager and pair the sending phone with the instance again (QR code)",
  "Restart the instance in the gateway's manager",
  "Restart the gateway; if that does not help, connect the instance in the gateway's manager",
  "Set tenant_config.config.email of the central tenant: an address, and verification_status verified",
  "Start the gateway, or correct {variable}",
  "Wait a minute and look again; if it stays so, pair the sending phone in the gateway's manager (QR code)",
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
  "A newer opsctl made it: use that one on every host",
  "Install the opsctl that made it, or a newer one",
  "Give it a group of its own (groupadd --system opsctl; usermod -g opsctl opsctl), and see getent passwd opsctl",
  "Let it create a schema in this database, or: create schema opsctl_state authorization <login>;",
  "Look at it first: ls -l {path}: a link is there; remove it unless you made it",
  "Look at it: file {path}",
  "Make room: df -h {path}",
  "Name an earlier Monday, or leave --week out for the last closed week",
  "Make {path} a directory that this account may write to",
  "Name a directory that belongs to the account that runs opsctl, and to no other",
  "Restart the service: it moves a damaged file aside and carries over what is readable",
  "Run getent passwd opsctl",
  "See that the directory services of /etc/nsswitch.conf answer: getent passwd opsctl",
  "See that {peer} runs and answers, then: opsctl doctor {command}",
  "See that {peer} runs and answers, then: opsctl doctor {command} --env-dir {envdir}",
  "See whether this host is too busy, or a disk hangs ({check}), then: opsctl doctor {command}",
  "See whether this host is too busy, or a disk hangs ({check}), then: opsctl doctor {command} --env-dir {envdir}",
  "See the end of /var/log/opsctl/weekly.log for what failed",
  "The run of a Monday makes it; opsctl weekly --dry-run proves on any day what that run needs",
  "What it needs: opsctl doctor {command}",
  'Who sent it: journalctl -u opsctl-webhook.service -g "A request was refused" -n 5; if it was the platform: opsctl alert-rules contact-point apply --rotate --url https://<alert host>/webhook',
  "apt-get install iproute2",
  "df -h {path}: make room on its disk, the service opens it by itself then",
  "grep opsctl /etc/cron.d/opsctl; systemctl status cron",
  "journalctl -u opsctl-webhook.service -n 50",
  "opsctl deliveries look-up --all",
  "opsctl deliveries repair",
  "opsctl explain LEDGER_WENT_BACK",
  "opsctl explain OWNERS_DROPPED",
  "opsctl reports status",
  "opsctl reports status; mend what it names, then opsctl weekly",
  "opsctl reports status; opsctl deliveries look-up --all",
  "opsctl webhook dead list, then opsctl webhook dead retry --all",
  "opsctl webhook dead list, then opsctl webhook dead retry --row <id> of each",
  "opsctl webhook dead list, then retry or drop each",
  "opsctl weekly",
  "opsctl weekly replaces it",
  "sudo opsctl doctor {command}",
  "sudo opsctl doctor {command} --env-dir {envdir}",
  "sudo OPSCTL_SECRETS_DIR={secretsdir} opsctl doctor {command}",
  "sudo OPSCTL_SECRETS_DIR={secretsdir} opsctl doctor {command} --env-dir {envdir}",
  "systemctl edit opsctl-webhook.service: below [Service] write ReadWritePaths={path}, then systemctl restart opsctl-webhook.service",
  "systemctl start opsctl-webhook.service, then run again: the service is asked instead",
  "systemctl start opsctl-webhook.socket opsctl-webhook.service",
  "systemctl status opsctl-webhook; or correct {variable} in {path}",
  "timedatectl set-ntp true",
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
 *            `tests/doctor/advice/every-advice.test.ts` reads the sources and fails on advice that is missing here.
 */
export function isKnownAdvice(text: string, isAllowed: (path: string, slot: PathSlot) => boolean): boolean {
  const advice = text.endsWith(ADDED) ? text.slice(0, -ADDED.length) : text;
  if (isAboutOddSetting(advice, isAllowed)) return true;
  return KNOWN.some(({ pattern, slots }) => {
    const found = pattern.exec(advice);
    return found !== null && slots.every((slot, at) => isAllowed(found[at + 1] as string, slot));
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

type KnownLine = { pattern: RegExp; slots: PathSlot[] };

function patternOf(line: string): KnownLine {
  const parts = line.split(/\{([a-z]+)\}/);
  const slots = parts.filter((part, at) => at % 2 === 1 && isPathSlot(part)) as PathSlot[];
  const patterns = PLACE.test(line) ? SLOTS_IN_PLACE : SLOTS;
  const patternOfPart = (part: string, at: number) => {
    if (at % 2 === 0) return literal(part);
    return isPathSlot(part) ? `(${patterns[part]})` : `${patterns[part]}`;
  };
  return { pattern: new RegExp(`^${parts.map(patternOfPart).join("")}$`), slots };
}

function isPathSlot(name: string): name is PathSlot {
  return ["path", "secretsdir", "envdir"].includes(name);
}

function oneOf(names: readonly string[]): string {
  return `(?:${names.map(literal).join("|")})`;
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
