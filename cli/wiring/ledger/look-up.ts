import * as v from "valibot";
import type { LookUpConfig } from "../../../lib/deliveries/config.ts";
import type { LookUpDependencies } from "../../../lib/deliveries/look-up/run.ts";
import type { RenderedText } from "../../../lib/deliveries/look-up/whatsapp.ts";
import { openDatabase } from "../../../lib/platform/database/pool.ts";
import { createProgress } from "../../../lib/platform/log/progress.ts";
import { rateLimiter } from "../../../lib/platform/rate/rate-limiter.ts";
import { messageFinder } from "../../../lib/providers/evolution/find-messages.ts";
import { RESEND_PER_SECOND } from "../../../lib/providers/resend/rate-observer.ts";
import { sentEmails } from "../../../lib/providers/resend/sent-emails.ts";
import { payloadSchema } from "../../../lib/weekly/payload.ts";
import { renderWhatsappText } from "../../../lib/weekly/texts/whatsapp-text.ts";
import type { CommandContext } from "../../framework/command.ts";
import { callLog } from "../call-log.ts";

/**
 * Opens the database, and clients that only read what gateway and e-mail provider keep; `close` closes them.
 *
 * Errors: those of `openDatabase`.
 */
export async function openLookUpDependencies(
  { databaseUrl, whatsapp, email }: LookUpConfig,
  { log, stderr, asJson }: CommandContext,
  interrupt: AbortSignal,
): Promise<LookUpDependencies & { close(): Promise<void> }> {
  const database = await openDatabase(databaseUrl, { max: 1, applicationName: "opsctl deliveries" });
  const progress = createProgress({ stream: stderr, enabled: !asJson && stderr.isTerminal });
  const onCall = callLog(log);
  const gateway = whatsapp && { baseUrl: new URL(whatsapp.gatewayUrl), adminKey: whatsapp.adminKey, onCall };
  const provider = email && { baseUrl: new URL(email.apiUrl), apiKey: email.apiKey, onCall };
  const rate = rateLimiter({ perSecond: RESEND_PER_SECOND });
  return {
    ...{ sql: database.sql, interrupt, progress },
    whatsapp: gateway && { find: messageFinder(gateway), renderText: whatsappTextOf(whatsapp.appBaseUrl) },
    email: provider && sentEmails({ ...provider, rate }),
    close: async () => {
      progress.stop();
      await database.close();
    },
  };
}

/** The weekly run's own message of a stored report, to the byte. */
export function whatsappTextOf(appBaseUrl: string): (payload: unknown) => RenderedText {
  return (payload) => {
    if (payload === null) return { status: "failed", code: "report_pruned" };
    const parsed = v.safeParse(payloadSchema, payload);
    if (!parsed.success) return { status: "failed", code: "report_payload_unreadable" };
    const text = renderWhatsappText(parsed.output, { appBaseUrl });
    return text === null ? { status: "failed", code: "message_too_long" } : { status: "rendered", text };
  };
}
