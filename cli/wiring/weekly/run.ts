import { setTimeout as delay } from "node:timers/promises";
import { openDatabase } from "../../../lib/platform/database/pool.ts";
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

type FromCommand = Pick<
  WeeklyDependencies,
  "log" | "interrupt" | "sentBefore" | "onBegin" | "onDatabaseWait"
>;

/** The flags of `opsctl weekly`, checked. */
export type WeeklyFlags = Omit<WeeklyOptions, keyof ReturnType<typeof optionsOf>> & { showProgress: boolean };

/** Connections beyond those of the reports in flight: one lists the owners, one holds the lock of the drain. */
const SPARE_CONNECTIONS = 2;

/** Longest time of one call of a dry run: a person waits for it. */
const SETUP_LIMIT_MS = 15_000;

/** Far longer than any statement of the run takes, and well below its lease of five minutes. */
const STATEMENT_LIMIT_MS = 60_000;

/**
 * Opens what a weekly run uses: the database and the clients of its services; `close` closes them.
 *
 * Errors: those of `openDatabase`, before anything is written.
 */
export async function openWeeklyDependencies(
  config: WeeklyConfig,
  flags: WeeklyFlags,
  { stderr, ...context }: Pick<CommandContext, "stderr"> & FromCommand,
): Promise<{ dependencies: WeeklyDependencies; options: WeeklyOptions; close(): Promise<void> }> {
  const { log, interrupt, sentBefore, onBegin, onDatabaseWait } = context;
  const run = { version: VERSION, runId: crypto.randomUUID() };
  const database = await openDatabase(config.databaseUrl, {
    max: flags.concurrency + SPARE_CONNECTIONS,
    applicationName: "opsctl weekly",
    patience: {
      ...openingPatience(flags),
      signal: interrupt,
      onWait(code, limitMs) {
        onDatabaseWait({ ...run, code, limitMs });
        const facts = { code, secondsLeft: limitMs / 1000 };
        log.warn("The database is unavailable for a moment: the run waits for it", facts);
      },
    },
  });
  const progress = createProgress({ stream: stderr, enabled: flags.showProgress && stderr.isTerminal });
  const onCall = callLog(log);
  const dependencies: WeeklyDependencies = {
    ...{ interrupt, sentBefore, onBegin, onDatabaseWait, log, progress, ...run },
    ...openClients(config, onCall),
    store: weeklyStore(database.sql),
    checkReadiness: () => checkReadiness(database.sql),
    setup: setupPeers(config, { limitMs: SETUP_LIMIT_MS, onCall }),
    statementLimitMs: STATEMENT_LIMIT_MS,
    renewConnections: database.renew,
    monotonicMs: () => performance.now(),
    sleep: (ms, signal) => delay(ms, undefined, signal ? { signal } : {}),
  };
  const close = async () => {
    progress.stop();
    await database.close();
  };
  return { dependencies, options: { ...flags, ...optionsOf(config) }, close };
}

/** The clients of the services and the rates of their calls; the client of a channel that is left out is null. */
function openClients(
  { whatsapp, email, editorials, appBaseUrl, triggerSecret }: WeeklyConfig,
  onCall: ReturnType<typeof callLog>,
) {
  const editorialSecret = editorials?.secret ?? null;
  const emailRate = rateLimiter({ perSecond: RESEND_PER_SECOND });
  const perMinute = whatsapp?.messagesPerMinute;
  return {
    application: applicationClient({ baseUrl: new URL(appBaseUrl), triggerSecret, editorialSecret, onCall }),
    gateway:
      whatsapp &&
      evolutionClient({ baseUrl: new URL(whatsapp.gatewayUrl), adminKey: whatsapp.adminKey, onCall }),
    emailProvider:
      email &&
      resendClient({ baseUrl: new URL(email.apiUrl), apiKey: email.apiKey, rate: emailRate, onCall }),
    whatsappRate: rateLimiter({ perSecond: perMinute ? perMinute / 60 : null }),
    emailRate,
  };
}

/** The options of a run that its settings give. */
function optionsOf({ whatsapp, email, editorials, appBaseUrl, unsubscribe, logDir }: WeeklyConfig) {
  return {
    ...{ appBaseUrl, unsubscribe, logDir },
    whatsappSenderTenantId: whatsapp?.senderTenantId ?? null,
    emailSenderTenantId: email?.senderTenantId ?? null,
    editorials: {
      enabled: editorials !== null,
      maxLlmCalls: editorials?.maxLlmCalls ?? 0,
      secretPresent: editorials?.secret != null,
    },
  };
}
