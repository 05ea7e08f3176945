import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { openDatabase } from "../lib/platform/database.ts";
import { createPace } from "../lib/platform/pace.ts";
import { createProgress } from "../lib/platform/progress.ts";
import { applicationClient } from "../lib/providers/application.ts";
import { evolutionClient } from "../lib/providers/evolution.ts";
import { resendClient } from "../lib/providers/resend.ts";
import { checkReadiness } from "../lib/schema/readiness.ts";
import { loadWeeklyConfig } from "../lib/weekly/config.ts";
import { weeklyStore } from "../lib/weekly/store.ts";
import type { WeeklyOptions, WeeklyWorld } from "../lib/weekly/world.ts";
import type { CommandContext } from "./command.ts";
import { VERSION } from "./version.ts";

/** The flags of `opsctl weekly`. */
export type WeeklyFlags = Pick<
  WeeklyOptions,
  "dryRun" | "tenantId" | "skipWhatsapp" | "skipEmail" | "skipEditorials" | "concurrency"
> & { showProgress: boolean };

/**
 * Everything that a weekly run touches, opened from the configuration.
 *
 * Errors: CONFIG_INVALID, SOCIAL_EDITORIALS_CRON_SECRET_REUSED, and those of `openDatabase`.
 */
export async function openWeeklyWorld(
  flags: WeeklyFlags,
  { env, log, stderr, interrupted }: CommandContext,
): Promise<{ world: WeeklyWorld; options: WeeklyOptions; close(): Promise<void> }> {
  const { showProgress, ...asked } = flags;
  const config = await loadWeeklyConfig(env, asked, (message) => log.warn(message));
  const { whatsapp, email, editorials } = config;
  const database = await openDatabase(config.databaseUrl, {
    // One connection more than reports in flight: the editorial drain keeps one for its lock.
    max: asked.concurrency + 1,
    applicationName: "opsctl weekly",
  });
  const onCall = (record: object) => log.debug("Called a peer", { ...record });
  const emailPace = createPace();
  const progress = createProgress({ stream: stderr, enabled: showProgress && stderr.isTerminal });
  const world: WeeklyWorld = {
    store: weeklyStore(database.sql),
    checkReadiness: () => checkReadiness(database.sql),
    application: applicationClient({
      baseUrl: new URL(config.appBaseUrl),
      triggerSecret: config.triggerSecret,
      editorialSecret: editorials?.secret ?? null,
      onCall,
    }),
    gateway:
      whatsapp &&
      evolutionClient({ baseUrl: new URL(whatsapp.gatewayUrl), adminKey: whatsapp.adminKey, onCall }),
    emailProvider:
      email &&
      resendClient({ baseUrl: new URL(email.apiUrl), apiKey: email.apiKey, pace: emailPace, onCall }),
    whatsappPace: createPace({ perMinute: whatsapp?.messagesPerMinute ?? undefined }),
    emailPace,
    log,
    progress,
    interrupt: interrupted(),
    monotonicMs: () => performance.now(),
    sleep: (ms, signal) => sleep(ms, undefined, signal === undefined ? {} : { signal }),
    version: VERSION,
    runId: randomUUID(),
  };
  const options: WeeklyOptions = {
    ...asked,
    appBaseUrl: config.appBaseUrl,
    whatsappSenderTenantId: whatsapp?.senderTenantId ?? null,
    emailSenderTenantId: email?.senderTenantId ?? null,
    editorials: {
      enabled: editorials !== null,
      maxLlmCalls: editorials?.maxLlmCalls ?? 0,
      secretPresent: (editorials?.secret ?? null) !== null,
    },
    logDir: config.logDir,
  };
  const close = async () => {
    progress.stop();
    await database.close();
  };
  return { world, options, close };
}
