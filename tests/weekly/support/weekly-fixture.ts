/** A weekly run against a real database and the three stand-ins, in this process. */
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Database, openDatabase } from "../../../lib/platform/database/pool.ts";
import type { Log } from "../../../lib/platform/log/log.ts";
import { createProgress } from "../../../lib/platform/log/progress.ts";
import { rateLimiter } from "../../../lib/platform/rate/rate-limiter.ts";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { applicationClient } from "../../../lib/providers/application/client.ts";
import { evolutionClient } from "../../../lib/providers/evolution/client.ts";
import { resendClient } from "../../../lib/providers/resend/client.ts";
import { RESEND_PER_SECOND } from "../../../lib/providers/resend/rate-observer.ts";
import { checkReadiness } from "../../../lib/schema/readiness.ts";
import type { WeeklyDependencies, WeeklyOptions } from "../../../lib/weekly/context/dependencies.ts";
import type { WeeklySummary } from "../../../lib/weekly/context/summary.ts";
import { weeklyStore } from "../../../lib/weekly/database/store.ts";
import { runWeekly } from "../../../lib/weekly/run.ts";
import { type SetupPeers, setupPeers } from "../../../lib/weekly/setup/peers.ts";
import {
  type AnalysisBody,
  type Application,
  type EditorialBody,
  startApplication,
} from "../../standins/application.ts";
import {
  type EmailProvider,
  type EmailProviderOptions,
  startEmailProvider,
} from "../../standins/email-provider.ts";
import { type Gateway, startGateway } from "../../standins/gateway.ts";
import { type Moment, startStatementProxy } from "../../standins/statement-proxy.ts";
import { CANARIES } from "../../support/canaries.ts";
import { type PostgresServer, sharedPostgres, type TestDatabase } from "../../support/postgres.ts";
import { MONDAY, seedSenders, setClock, writeAnalysis } from "../../support/seed.ts";
import { silentLog } from "../../support/silent-log.ts";

/** What is different for one run. */
export type FixtureChanges = Omit<Partial<WeeklyDependencies>, "store"> & {
  /** Another way to the same database. */
  databaseUrl?: string;
  /** What happens before and after single statements of the run; each of these moments must come. */
  at?: Moment[];
};

/** Database, peers and a way to run. */
export type WeeklyFixture = {
  db: TestDatabase;
  application: Application;
  gateway: Gateway;
  email: EmailProvider;
  senders: { whatsappTenantId: string; emailTenantId: string };
  logDir: string;
  /** How long a run waits for each peer, where that is not the client's own limit. */
  timeoutsMs: { application?: number; gateway?: number; email?: number };
  /** Replaces what the application does while it analyses; the default writes a score and an analysis. */
  onAnalyze: (body: AnalysisBody) => Promise<void>;
  /** What happens while the application works on an editorial call. */
  onEditorial: (body: EditorialBody) => unknown;
  /** One run with these options, against the peers as they are now. */
  run(options?: Partial<WeeklyOptions>, dependencies?: FixtureChanges): Promise<WeeklySummary>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Starts a database of its own with the clock on a Monday, and the three peers. */
export async function weeklyFixture(
  options: { clock?: string; email?: Partial<EmailProviderOptions>; server?: PostgresServer } = {},
): Promise<WeeklyFixture> {
  const db = await (options.server ?? (await sharedPostgres())).createDatabase({ connections: 4 });
  await setClock(db.sql, options.clock ?? MONDAY);
  const senders = await seedSenders(db.sql);
  const logDir = mkdtempSync(join(tmpdir(), "opsctl-log-"));
  const application = await startApplication({
    triggerSecret: CANARIES.TRIGGER_SECRET,
    cronSecret: CANARIES.SOCIAL_EDITORIALS_CRON_SECRET,
    onAnalyze: (body) => fixture.onAnalyze(body),
    onEditorial: (body) => fixture.onEditorial(body),
  });
  const gateway = await startGateway({ adminKey: CANARIES.GATEWAY_ADMIN_KEY });
  const email = await startEmailProvider({ apiKey: CANARIES.EMAIL_API_KEY, ...options.email });

  // A run's connections are the next run's: what a new one has to load and plan costs more than a short run.
  const idle: Database[] = [];
  const fixture: WeeklyFixture = {
    db,
    application,
    gateway,
    email,
    senders,
    logDir,
    timeoutsMs: {},
    onAnalyze: (body) => writeAnalysis(db.sql, body, { score: 73 }),
    onEditorial: () => {},
    run: async (runOptions = {}, { databaseUrl = db.url, at = [], ...dependencies } = {}) => {
      const proxy = at.length === 0 ? null : await startStatementProxy(databaseUrl, at);
      const isUsual = databaseUrl === db.url && proxy === null;
      const database = (isUsual && idle.pop()) || (await openPool(proxy?.url ?? databaseUrl));
      const emailRate = rateLimiter({ perSecond: RESEND_PER_SECOND });
      const limits = fixture.timeoutsMs;
      const limitOf = (timeoutMs?: number) => (timeoutMs === undefined ? {} : { timeoutMs });
      try {
        return await runWeekly(
          {
            checkReadiness: () => checkReadiness(database.sql),
            application: applicationClient({
              baseUrl: new URL(application.url),
              triggerSecret: new Secret(CANARIES.TRIGGER_SECRET),
              editorialSecret: new Secret(CANARIES.SOCIAL_EDITORIALS_CRON_SECRET),
              ...(limits.application === undefined
                ? {}
                : { timeoutsMs: { analysis: limits.application, editorial: limits.application } }),
            }),
            setup: setupPeersOf({ application, gateway, email }),
            gateway: evolutionClient({
              baseUrl: new URL(gateway.url),
              adminKey: new Secret(CANARIES.GATEWAY_ADMIN_KEY),
              ...limitOf(limits.gateway),
            }),
            emailProvider: resendClient({
              baseUrl: new URL(email.url),
              apiKey: new Secret(CANARIES.EMAIL_API_KEY),
              rate: emailRate,
              ...limitOf(limits.email),
            }),
            whatsappRate: rateLimiter({ perSecond: null }),
            emailRate,
            log: silentLog,
            progress: createProgress({ stream: { write() {} }, enabled: false }),
            interrupt: new AbortController().signal,
            sentBefore: () => ({ whatsapp: 0, lost: 0 }),
            onBegin() {},
            onDatabaseWait() {},
            statementLimitMs: 60_000,
            renewConnections: database.renew,
            monotonicMs: () => performance.now(),
            sleep: (ms, signal) => delay(ms, undefined, signal ? { signal } : {}),
            version: "0.0.0-test",
            runId: randomUUID(),
            store: weeklyStore(database.sql),
            ...dependencies,
          },
          {
            dryRun: false,
            tenantId: null,
            skipWhatsapp: false,
            skipEmail: false,
            skipEditorials: false,
            withoutSocial: false,
            patienceMinutes: 0,
            concurrency: 8,
            appBaseUrl: "https://app.example",
            unsubscribe: null,
            whatsappSenderTenantId: senders.whatsappTenantId,
            emailSenderTenantId: senders.emailTenantId,
            editorials: { enabled: false, maxLlmCalls: 30, secretPresent: true },
            logDir,
            ...runOptions,
          },
        );
      } finally {
        if (isUsual) idle.push(database);
        else await database.close();
        await proxy?.stop();
      }
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(idle.map((database) => database.close()));
      await Promise.all([application.stop(), gateway.stop(), email.stop()]);
      await db.drop();
      rmSync(logDir, { recursive: true, force: true });
    },
  };
  return fixture;
}

function openPool(url: string): Promise<Database> {
  return openDatabase(new Secret(url), { max: 10, applicationName: "opsctl-test", closeLimitMs: 300 });
}

/** The peers at these addresses as a dry run asks them. */
export function setupPeersOf(
  { application, gateway, email }: Record<"application" | "gateway" | "email", { url: string }>,
  limitMs = 15_000,
): SetupPeers {
  const whatsapp = {
    senderTenantId: null,
    gatewayUrl: gateway.url,
    adminKey: new Secret(CANARIES.GATEWAY_ADMIN_KEY),
    messagesPerMinute: null,
  };
  const provider = { senderTenantId: null, apiUrl: email.url, apiKey: new Secret(CANARIES.EMAIL_API_KEY) };
  return setupPeers({ appBaseUrl: application.url, whatsapp, email: provider }, { limitMs });
}

/** A log that keeps its lines. */
export function recordingLog(): Log & { lines: { level: string; msg: string; fields: unknown }[] } {
  const lines: { level: string; msg: string; fields: unknown }[] = [];
  const at = (level: string) => (msg: string, fields?: Record<string, unknown>) => {
    lines.push({ level, msg, fields });
  };
  return { lines, debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}
