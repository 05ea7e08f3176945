import type { KeyState } from "../providers/resend/key.ts";
import type { Run } from "./context/run.ts";
import { pagesOf } from "./context/scopes.ts";
import { type Failure, noEditorials, type WeeklySummary } from "./context/summary.ts";
import type { DeliveryChannelName } from "./database/deliveries.ts";
import type { Senders } from "./database/recipients.ts";
import { emailSenderOf } from "./delivery/email-sender.ts";
import { recipientCodes } from "./delivery/recipients.ts";
import { instanceNameOf } from "./delivery/whatsapp.ts";
import { unprovedBy } from "./setup/dry-run-limits.ts";
import { gatewayProblem, senderInstanceProblem } from "./setup/gateway.ts";
import { logDirectoryProblem } from "./setup/log-directory.ts";
import type { SetupProblem } from "./setup/problem.ts";

/**
 * `--dry-run`: what a real run would need, checked peer by peer and owner by owner with the codes of a real run.
 *
 * Shape:     the ready or not_ready part of a summary; `failed` counts what could not be delivered, `failures` names
 *            tenant and code, never the data; `unproved` names what only a real run can prove.
 * Behaviour: only reads, in read-only transactions; asks the peers only what has no effect.
 * Source:    weekly report document, command-line options.
 */
export async function checkSetupAndOwners(run: Run): Promise<Partial<WeeklySummary>> {
  const { dependencies, options, tally } = run;
  const setup = await findSetupProblems(run);
  const editorials = editorialReadiness(run);
  for (const problem of setup) tally.fail(problem);
  if (editorials.code !== null) tally.fail({ step: "editorials", code: editorials.code });
  // Last: the summary names only the first failures, and those that concern all owners come first.
  await checkOwners(run, new Set(setup.map(({ step }) => step)));

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
    unproved: unprovedBy(options),
    error: ready
      ? null
      : {
          code: failures[0]!.code,
          message: "Not ready: a real run would leave something undone",
          hint: "Mend what the codes name, then run opsctl weekly --dry-run again",
        },
  };
}

/** What concerns every owner, in the order of the summary; the peers are asked at the same time. */
async function findSetupProblems(run: Run): Promise<Failure[]> {
  const { dependencies, options } = run;
  const { store, setup, interrupt } = dependencies;
  const { whatsappSenderTenantId, emailSenderTenantId } = options;
  const senders = await store.readSenders(whatsappSenderTenantId, emailSenderTenantId);
  const found = await Promise.all([
    setup.reachApplication(interrupt).then((reach) => (reach.status === "answered" ? [] : [reach])),
    whatsappProblems(run, senders),
    emailProblems(run, senders),
    logDirectoryProblems(run),
  ]);
  const steps = ["readiness", "whatsapp", "email", "heartbeat"] as const;
  return steps.flatMap((step, i) => found[i]!.map(({ code, cause }) => ({ step, code, cause })));
}

/** An instance that answers shows that the gateway does, too; without an instance the gateway itself is asked. */
async function whatsappProblems({ dependencies, options }: Run, senders: Senders): Promise<SetupProblem[]> {
  const { setup, interrupt } = dependencies;
  if (options.skipWhatsapp || setup.gateway === null) return [];
  const name = instanceNameOf(senders.instanceName);
  const isKnown = options.whatsappSenderTenantId !== null;
  const instance = isKnown
    ? await senderInstanceProblem(setup.gateway, name, interrupt)
    : { code: "sender_tenant_missing" };
  const gateway = isKnown && name !== null ? null : await gatewayProblem(setup.gateway, interrupt);
  return [instance, gateway].filter((problem) => problem !== null);
}

async function emailProblems({ dependencies, options }: Run, senders: Senders): Promise<SetupProblem[]> {
  const { setup, interrupt } = dependencies;
  if (options.skipEmail || setup.checkEmailKey === null) return [];
  const key = await setup.checkEmailKey(interrupt);
  return [emailSenderProblem(options.emailSenderTenantId, senders.emailSender), keyProblem(key)].filter(
    (problem) => problem !== null,
  );
}

function emailSenderProblem(senderTenantId: string | null, config: unknown): SetupProblem | null {
  if (senderTenantId === null) return { code: "email_sender_tenant_missing" };
  const sender = emailSenderOf(config);
  return sender.status === "ready" ? null : { code: sender.code };
}

function keyProblem(key: KeyState): SetupProblem | null {
  return key.status === "accepted" ? null : { code: key.code };
}

/** Only a run that leaves nothing out writes the heartbeat. */
async function logDirectoryProblems({ options }: Run): Promise<SetupProblem[]> {
  const { tenantId, skipWhatsapp, skipEmail, skipEditorials, logDir } = options;
  if (tenantId !== null || skipWhatsapp || skipEmail || skipEditorials) return [];
  const cause = await logDirectoryProblem(logDir);
  return cause === null ? [] : [{ code: "HEARTBEAT_UNWRITABLE", cause }];
}

/** Counts for each owner and channel whether the delivery could be made; `blocked` are channels that cannot send. */
async function checkOwners(run: Run, blocked: ReadonlySet<Failure["step"]>): Promise<void> {
  const { dependencies, options, tally } = run;
  const { store, interrupt, progress } = dependencies;
  const leftOut: Record<DeliveryChannelName, boolean> = {
    whatsapp: options.skipWhatsapp,
    email: options.skipEmail,
  };
  for await (const owner of pagesOf((after, limit) => store.listRecipients(options.tenantId, after, limit))) {
    if (interrupt.aborted) return;
    const codes = recipientCodes(owner);
    for (const step of ["whatsapp", "email"] as const) {
      const code = codes[step];
      if (leftOut[step]) tally[step].skipped += 1;
      else if (code !== null || blocked.has(step)) tally[step].failed += 1;
      if (!leftOut[step] && code !== null) tally.fail({ step, code, tenantId: owner.tenantId });
    }
    progress.advance(1);
  }
}

function editorialReadiness(run: Run): WeeklySummary["editorials"] {
  const { enabled, secretPresent } = run.options.editorials;
  if (!enabled) return noEditorials("disabled", null);
  if (run.options.skipEditorials || run.options.tenantId !== null || secretPresent) {
    return noEditorials("skipped", null);
  }
  return noEditorials("failed", "SOCIAL_EDITORIALS_CRON_SECRET_MISSING");
}
