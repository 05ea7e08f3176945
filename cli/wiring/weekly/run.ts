import { setTimeout as delay } from "node:timers/promises";
import { openDatabase } from "../../../lib/platform/database/pool.ts";
import type { CallRecord } from "../../../lib/platform/http/call-peer.ts";
import { createProgress } from "../../../lib/platform/log/progress.ts";
import { rateLimiter } from "../../../lib/platform/rate/rate-limiter.ts";
import { applicationClient } from "../../../lib/providers/application/client.ts";
import { evolutionClient } from "../../../lib/providers/evolution/client.ts";
import { resendClient } from "../../../lib/providers/resend/client.ts";
import { RESEND_PER_SECOND } from "../../../lib/providers/resend/rate-observer.ts";
import { checkReadiness } from "../../../lib/schema/readiness.ts";
import type { WeeklyConfig } from "../../../lib/weekly/config.ts";
import type { WeeklyDependencies, WeeklyOptions } from "../../../lib/weekly/context/dependencies.ts";
import { openingPatience } from "../../../lib/weekly/database/opening-patience.ts";
import { weeklyStore } from "../../../lib/weekly/database/store.ts";
import { setupPeers } from "../../../lib/weekly/setup/peers.ts";
import type { CommandContext } from "../../framework/command.ts";
import { VERSION } from "../../framework/version.ts";
import { callLog } from "../call-log.ts";

/** The flags of `opsctl weekly`, checked. */
export type WeeklyFlags = Pick<
  WeeklyOptions,
  | "dryRun"
  | "tenantId"
  | "skipWhatsapp"
  | "skipEmail"
  | "skipEditorials"
  | "withoutSocial"
  | "patienceMinutes"
  | "concurrency"
> & { showProgress: boolean };

/** Connections beyond those of the reports in flight: one lists the owners, one holds the lock of the drain. */
const SPARE_CONNECTIONS = 2;

/** Longest time of one question of a dry run: a person waits for it. */
const SETUP_LIMIT_MS = 15_000;

/** Far longer than any statement of the run takes, and well below its lease of five minutes. */
const STATEMENT_LIMIT_MS = 60_000;

/**
 * Opens what a weekly run uses: the database and the clients of its peers; `close` closes them.
 *
 * Errors: those of `openDatabase`, before anything is written.
 */
export async function openWeeklyDependencies(
  config: WeeklyConfig,
  flags: WeeklyFlags,
  {
    log,
    stderr,
    interrupt,
    sentBefore,
    onBegin,
    onDatabaseWait,
  }: Pick<CommandContext, "log" | "stderr"> &
    Pick<WeeklyDependencies, "interrupt" | "sentBefore" | "onBegin" | "onDatabaseWait">,
): Promise<{ dependencies: WeeklyDependencies; options: WeeklyOptions; close(): Promise<void> }> {
  const run = { version: VERSION, runId: crypto.randomUUID() };
  const database = await openDatabase(config.databaseUrl, {
    max: flags.concurrency + SPARE_CONNECTIONS,
    applicationName: "opsctl weekly",
    patience: {
      ...openingPatience(flags),
      signal: interrupt,
      onWait(code, limitMs) {
        const facts = { code, secondsLeft: limitMs / 1000 };
        onDatabaseWait({ ...run, code, limitMs });
        log.warn("The database is away for a moment: the run waits for it", facts);
      },
    },
  });
  const progress = createProgress({ stream: stderr, enabled: flags.showProgress && stderr.isTerminal });
  const onCall = callLog(log);
  const dependencies: WeeklyDependencies = {
    store: weeklyStore(database.sql),
    checkReadiness: () => checkReadiness(database.sql),
    ...openPeers(config, onCall),
    setup: setupPeers(config, { limitMs: SETUP_LIMIT_MS, onCall }),
    log,
    progress,
    interrupt,
    sentBefore,
    onBegin,
    onDatabaseWait,
    statementLimitMs: STATEMENT_LIMIT_MS,
    renewConnections: database.renew,
    monotonicMs: () => performance.now(),
    sleep: (ms, signal) => delay(ms, undefined, signal ? { signal } : {}),
    ...run,
  };
  const close = async () => {
    progress.stop();
    await database.close();
  };
  return { dependencies, options: optionsOf(config, flags), close };
}

type Peers = Pick<
  WeeklyDependencies,
  "application" | "gateway" | "emailProvider" | "whatsappRate" | "emailRate"
>;

/** The clients of the services and the rates of their calls; the client of a channel that is left out is null. */
function openPeers(
  { whatsapp, email, editorials, appBaseUrl, triggerSecret }: WeeklyConfig,
  onCall: (record: CallRecord) => void,
): Peers {
  const emailRate = rateLimiter({ perSecond: RESEND_PER_SECOND });
  return {
    application: applicationClient({
      baseUrl: new URL(appBaseUrl),
      triggerSecret,
      editorialSecret: editorials?.secret ?? null,
      onCall,
    }),
    gateway:
      whatsapp &&
      evolutionClient({ baseUrl: new URL(whatsapp.gatewayUrl), adminKey: whatsapp.adminKey, onCall }),
    emailProvider:
      email &&
      resendClient({ baseUrl: new URL(email.apiUrl), apiKey: email.apiKey, rate: emailRate, onCall }),
    whatsappRate: rateLimiter({
      perSecond: whatsapp?.messagesPerMinute ? whatsapp.messagesPerMinute / 60 : null,
    }),
    emailRate,
  };
}

function optionsOf(
  { whatsapp, email, editorials, appBaseUrl, unsubscribe, logDir }: WeeklyConfig,
  flags: WeeklyFlags,
): WeeklyOptions {
  return {
    ...flags,
    appBaseUrl,
    unsubscribe,
    logDir,
    whatsappSenderTenantId: whatsapp?.senderTenantId ?? null,
    emailSenderTenantId: email?.senderTenantId ?? null,
    editorials: {
      enabled: editorials !== null,
      maxLlmCalls: editorials?.maxLlmCalls ?? 0,
      secretPresent: editorials?.secret != null,
    },
  };
}
