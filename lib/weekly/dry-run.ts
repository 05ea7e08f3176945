import { NO_SENDER_INSTANCE } from "../providers/evolution/advice.ts";
import type { Run } from "./context/run.ts";
import { pagesOf } from "./context/scopes.ts";
import { type Failure, noEditorials, type WeeklySummary } from "./context/summary.ts";
import type { DeliveryChannelName } from "./database/deliveries.ts";
import { emailSenderOf } from "./delivery/email.ts";
import { recipientCodes } from "./delivery/recipients.ts";
import { instanceNameOf } from "./delivery/whatsapp.ts";

/**
 * `--dry-run`: what a real run would need, checked owner by owner with the codes of a real run.
 *
 * Shape:     the ready or not_ready part of a summary; `failed` counts what could not be delivered, `failures` names
 *            tenant and code, never the data.
 * Behaviour: only reads, in read-only transactions; outside the database it asks the gateway's state alone.
 * Source:    weekly report document, command-line options.
 */
export async function checkRecipientsAndSenders(run: Run): Promise<Partial<WeeklySummary>> {
  const { dependencies, tally } = run;
  const senderProblems = await findSenderProblems(run);
  const editorials = editorialReadiness(run);
  if (editorials.code !== null) tally.fail({ step: "editorials", code: editorials.code });
  // Last: the summary names only the first failures, and those that concern all owners come first.
  await checkOwners(run, senderProblems);

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
type SenderProblems = Record<DeliveryChannelName, SenderProblem | null>;

/** What keeps each channel's sender from sending; each problem is kept as a failure. */
async function findSenderProblems(run: Run): Promise<SenderProblems> {
  const { dependencies, options, tally } = run;
  const { whatsappSenderTenantId, emailSenderTenantId, skipWhatsapp, skipEmail } = options;
  const senders = await dependencies.store.readSenders(whatsappSenderTenantId, emailSenderTenantId);
  const instanceName = instanceNameOf(senders.instanceName);
  const whatsapp = skipWhatsapp ? null : await whatsappSenderProblem(run, instanceName);
  const email = skipEmail ? null : emailSenderProblem(run, senders.emailSender);
  if (whatsapp !== null) tally.fail({ step: "whatsapp", ...whatsapp });
  if (email !== null) tally.fail({ step: "email", ...email });
  return { whatsapp, email };
}

/** Counts for each owner and channel whether the delivery could be made. */
async function checkOwners(run: Run, senderProblems: SenderProblems): Promise<void> {
  const { dependencies, options, tally } = run;
  const { store, interrupt, progress } = dependencies;
  for await (const owner of pagesOf((after, limit) => store.listRecipients(options.tenantId, after, limit))) {
    if (interrupt.aborted) return;
    const codes = recipientCodes(owner);
    for (const step of ["whatsapp", "email"] as const) {
      const leftOut = step === "whatsapp" ? options.skipWhatsapp : options.skipEmail;
      const code = codes[step];
      if (leftOut) tally[step].skipped += 1;
      else if (code !== null || senderProblems[step] !== null) tally[step].failed += 1;
      if (!leftOut && code !== null) tally.fail({ step, code, tenantId: owner.tenantId });
    }
    progress.advance(1);
  }
}

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
