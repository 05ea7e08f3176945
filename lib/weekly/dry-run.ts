import { NO_SENDER_INSTANCE } from "../providers/evolution/advice.ts";
import { normalizeEmail } from "../text/email-address.ts";
import { maskEmail, maskPhone } from "../text/mask.ts";
import { normalizePhone } from "../text/phone.ts";
import type { Run } from "./context/run.ts";
import { pagesOf } from "./context/scopes.ts";
import { type Failure, noEditorials, type WeeklySummary } from "./context/summary.ts";
import { emailSenderOf } from "./delivery/email.ts";
import { instanceNameOf } from "./delivery/whatsapp.ts";

/**
 * `--dry-run`: what a real run would need, checked owner by owner with the codes of a real run.
 *
 * Shape:  the ready or not_ready part of a summary; `failed` counts what could not be delivered, `failures` names tenant
 *         and code, never the data.
 * Source: weekly report document, command-line options. Reads only, in read-only transactions; the gateway's state is
 *         the one thing asked outside the database.
 */
export async function checkRecipientsAndSenders(run: Run): Promise<Partial<WeeklySummary>> {
  const { dependencies, options, tally } = run;
  const { whatsappSenderTenantId, emailSenderTenantId } = options;
  const { store } = dependencies;
  const senders = await store.readSenders(whatsappSenderTenantId, emailSenderTenantId);
  const whatsappProblem = options.skipWhatsapp
    ? null
    : await whatsappSenderProblem(run, instanceNameOf(senders.instanceName));
  const emailProblem = options.skipEmail ? null : emailSenderProblem(run, senders.emailSender);
  for (const [step, problem] of [
    ["whatsapp", whatsappProblem],
    ["email", emailProblem],
  ] as const) {
    if (problem !== null) tally.fail({ step, ...problem });
  }
  const editorials = editorialReadiness(run);
  if (editorials.code !== null) tally.fail({ step: "editorials", code: editorials.code });

  // Last: only the first failures are named, and what concerns everybody comes before what concerns one.
  for await (const owner of pagesOf((after, limit) => store.listRecipients(options.tenantId, after, limit))) {
    if (dependencies.interrupt.aborted) break;
    const { tenantId } = owner;
    const number = normalizePhone(owner.phone);
    const address = normalizeEmail(owner.email);
    const phoneCode = number && maskPhone(number) ? null : "recipient_phone_missing";
    const addressCode = address && maskEmail(address) ? null : "recipient_email_missing";
    for (const [step, leftOut, recipientCode, senderProblem] of [
      ["whatsapp", options.skipWhatsapp, phoneCode, whatsappProblem],
      ["email", options.skipEmail, addressCode, emailProblem],
    ] as const) {
      if (leftOut) tally[step].skipped += 1;
      else if (recipientCode !== null || senderProblem !== null) tally[step].failed += 1;
      if (!leftOut && recipientCode !== null) tally.fail({ step, code: recipientCode, tenantId });
    }
    dependencies.progress.advance(1);
  }

  const interrupted = dependencies.interrupt.aborted;
  if (interrupted) tally.fail({ step: "run", code: "RUN_INTERRUPTED" });
  const ready = tally.failures.length === 0;
  const { reports, whatsapp, email, failures, failuresTruncated } = tally;
  return {
    status: ready ? "ready" : "not_ready",
    exitCode: ready ? 0 : interrupted ? 1 : 3,
    reports,
    whatsapp,
    email,
    editorials,
    failures,
    failuresTruncated,
    error: ready
      ? null
      : {
          code: failures[0]!.code,
          message: "Not ready: a real run would leave something undone, see failures",
          hint: "Mend what the codes name, then run opsctl weekly --dry-run again",
        },
  };
}

type SenderProblem = Pick<Failure, "code" | "cause">;

async function whatsappSenderProblem(run: Run, instanceName: string | null): Promise<SenderProblem | null> {
  if (run.options.whatsappSenderTenantId === null) return { code: "sender_tenant_missing" };
  const { gateway, interrupt } = run.dependencies;
  if (instanceName === null || gateway === null) return NO_SENDER_INSTANCE;
  const instance = await gateway.checkInstance(instanceName, interrupt);
  return instance.status === "open" ? null : { code: instance.code, cause: instance.cause };
}

function emailSenderProblem(run: Run, config: unknown): SenderProblem | null {
  if (run.options.emailSenderTenantId === null) return { code: "email_sender_tenant_missing" };
  const sender = emailSenderOf(config);
  return sender.status === "ready" ? null : { code: sender.code };
}

function editorialReadiness(run: Run): WeeklySummary["editorials"] {
  const { enabled, secretPresent } = run.options.editorials;
  if (!enabled) return noEditorials("disabled", null);
  if (run.options.skipEditorials || run.options.tenantId !== null || secretPresent) {
    return noEditorials("skipped", null);
  }
  return noEditorials("failed", "SOCIAL_EDITORIALS_CRON_SECRET_MISSING");
}
