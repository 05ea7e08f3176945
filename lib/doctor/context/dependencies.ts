import type postgres from "postgres";
import type { Database } from "../../platform/database/pool.ts";
import type { Environment } from "../../platform/secrets/adapter.ts";
import type { Secret } from "../../platform/secrets/secret.ts";
import type { DockerAddress } from "../../providers/docker/client.ts";
import type { FileReading } from "../facts/outbox.ts";

/** Where things are on a host; other places in tests. */
export type HostPaths = {
  passwd: string;
  group: string;
  localtime: string;
  cronFile: string;
  /** Folders of units, the one that counts first. */
  unitDirs: readonly string[];
  /** The kernel's tables of this network namespace. */
  procNet: string;
};

/** The settings of the weekly run that doctor needs; a part that was left out is null. */
export type WeeklySettings = {
  appBaseUrl: string;
  logDir: string;
  whatsapp: { senderTenantId: string | null; gatewayUrl: string; adminKey: Secret } | null;
  email: { senderTenantId: string | null; apiUrl: string; apiKey: Secret } | null;
};

/** A gateway and the instance that sends. */
export type MessagingSettings = { apiUrl: string; apiKey: Secret; instance: string | null };

/** The settings of the webhook. */
export type WebhookSettings = {
  messaging: MessagingSettings;
  tracker: { url: string; token: Secret; teamId: string };
  state: { directory: string } | { url: Secret };
};

/** The settings of the collector. */
export type CollectSettings = {
  textfileDir: string;
  proxy: { container: string; address: DockerAddress };
  hosting: { apiUrl: string; teamId: string | null };
};

/** The settings of the socket monitor. */
export type SocketSettings = { messaging: MessagingSettings; stateDir: string; logDir: string };

/** The settings of the alert rules. */
export type RulesSettings = {
  url: string;
  token: Secret;
  uids: { folder: string; metrics: string; logs: string };
};

/** The commands' own loaders; each throws CONFIG_INVALID with all problems of its part. */
export type Loaders = {
  weekly(env: Environment, leftOut: { skipWhatsapp: boolean; skipEmail: boolean }): Promise<WeeklySettings>;
  webhook(env: Environment): Promise<WebhookSettings>;
  collectMetrics(env: Environment): Promise<CollectSettings>;
  socketMonitor(env: Environment): Promise<SocketSettings>;
  alertRules(env: Environment): Promise<RulesSettings>;
  databaseUrl(env: Environment): Promise<Secret>;
};

/** How many owners a run would write to, and how many of them cannot be reached one way or the other. */
export type RecipientCounts = { owners: number; withoutPhone: number; withoutEmail: number };

/** What the weekly run reads of the database before it sends, in read-only transactions. */
export type WeeklyReads = {
  readSenders(
    sql: postgres.Sql,
    whatsappTenantId: string | null,
    emailTenantId: string | null,
  ): Promise<{ instanceName: string | null; emailSenderProblem: string | null }>;
  countRecipients(sql: postgres.Sql): Promise<RecipientCounts>;
};

/** One kind of what waits in the webhook's outbox. */
export type KindCounts = { queued: number; dead: number; oldestQueuedAgeMs: number | null };

/** What waits and what was given up. */
export type OutboxCounts = { message: KindCounts; issue: KindCounts };

/** How a program that was run ended; null when there is no such program. */
export type ProgramEnd = { status: number | null; stdout: string } | null;

/**
 * Everything that doctor touches besides the files and peers that the settings name.
 *
 * Units: `limitMs` is the time of each check, `wait` the one clock that ends them; `secretCommandLimitMs` is shorter, so
 *        that a secret command that hangs is ended and named.
 */
export type DoctorDependencies = {
  env: Environment;
  envDir: string;
  paths: HostPaths;
  /** Health of a running webhook. */
  adminUrl: URL;
  /** Where the webhook listens. */
  webhookPort: number;
  limitMs: number;
  secretCommandLimitMs: number;
  wait(ms: number, signal: AbortSignal): Promise<void>;
  nowMs(): number;
  load: Loaders;
  openDatabase(url: Secret): Promise<Database>;
  weekly: WeeklyReads;
  /**
   * What is in the webhook's outbox, read from its state file or from the shared database; the file is read in a child,
   * null when that broke off or was ended.
   */
  outbox: {
    ofFile(path: string, signal: AbortSignal): Promise<FileReading | null>;
    ofDatabase(sql: postgres.Sql): Promise<OutboxCounts>;
  };
  /** Name of the socket monitor's log in its log directory. */
  socketLogFile: string;
  runProgram(program: string, args: readonly string[], signal: AbortSignal): Promise<ProgramEnd>;
};
