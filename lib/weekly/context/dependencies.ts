import type { SentBefore } from "../../last-run/last-run.ts";
import type { Log } from "../../platform/log/log.ts";
import type { Progress } from "../../platform/log/progress.ts";
import type { RateLimiter } from "../../platform/rate/rate-limiter.ts";
import type { ApplicationClient } from "../../providers/application/client.ts";
import type { EvolutionClient } from "../../providers/evolution/client.ts";
import type { ResendClient } from "../../providers/resend/client.ts";
import type { ReadinessProblem } from "../../schema/readiness.ts";
import type { Store } from "../database/store.ts";
import type { SetupPeers } from "../setup/peers.ts";
import type { DatabaseWait, RunStart } from "./run-start.ts";

/** The options and settings of one run. */
export type WeeklyOptions = {
  dryRun: boolean;
  tenantId: string | null;
  skipWhatsapp: boolean;
  skipEmail: boolean;
  skipEditorials: boolean;
  /** No analysis call: the operator's choice while the application stays away. */
  withoutSocial: boolean;
  /** How long the run waits for an application that does not answer; 0 is not at all. */
  patienceMinutes: number;
  concurrency: number;
  appBaseUrl: string;
  unsubscribe: string | null;
  whatsappSenderTenantId: string | null;
  emailSenderTenantId: string | null;
  editorials: { enabled: boolean; maxLlmCalls: number; secretPresent: boolean };
  logDir: string;
};

/** Everything outside the process that a run uses; a client is null when its channel is left out. */
export type WeeklyDependencies = {
  store: Store;
  checkReadiness(): Promise<ReadinessProblem[]>;
  application: ApplicationClient;
  /** The same peers as a dry run asks them. */
  setup: SetupPeers;
  gateway: Pick<EvolutionClient, "checkInstance" | "sendText"> | null;
  emailProvider: ResendClient | null;
  whatsappRate: RateLimiter;
  emailRate: RateLimiter;
  log: Log;
  progress: Progress;
  /** Aborted by SIGTERM or SIGINT. */
  interrupt: AbortSignal;
  /** The WhatsApp messages of the week that begins on this Monday which this host knows to be sent. */
  sentBefore(week: string): SentBefore;
  /** Told before the run begins, each time that it has to wait for the database. */
  onDatabaseWait(wait: DatabaseWait): void;
  /** Told once, when the run is going to write: from here on it leaves a record. */
  onBegin(start: RunStart): void;
  /** How long the run waits for one answer of the database. */
  statementLimitMs: number;
  /** Lets further statements use new connections: those that are open may lead to a server that is gone. */
  renewConnections?(): void;
  /** Milliseconds that only grow; for durations, never for a decision about the day. */
  monotonicMs(): number;
  /** Rejects when the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  version: string;
  runId: string;
};
