import { gatewayAdvice, WEEKLY_GATEWAY } from "../../providers/evolution/advice.ts";
import type { Failure } from "../context/summary.ts";

/** What to do about a failure code of the weekly run; a code without a line needs no hint. */
const HINTS: Readonly<Record<string, string>> = {
  APP_HTTP_401:
    "make TRIGGER_SECRET (opsctl secret set TRIGGER_SECRET) and the application's VPS_TRIGGER_SECRET refer to the same secret",
  APP_HTTP_409: "the application says it is not Monday in São Paulo: compare the clocks, do not force it",
  APP_UNREACHABLE: "nothing answers at APP_BASE_URL: look at the application, the address and the network",
  APP_ANSWER_INVALID: "a page came in the place of an answer: look at the proxy before the application",
  social_retry: "it waits for the application, and the next run takes it again",
  SOCIAL_ALL_CALLS_FAILED: "no network of the week could be read: look at the application",
  SOCIAL_DEGRADED: "more than a tenth of the week's networks could not be read: look at the application",
  WEEK_OPEN: "another run left something open, or still works on it: see the week's line above",
  WEEK_UNREADABLE: "the database refused to tell the state of the week; the log has the SQLSTATE",
  report_busy: "another process holds this report's lease (20 minutes); run again when it is done",
  report_claim_failed: "the database refused the claim; the log has the SQLSTATE",
  report_collection_failed: "the database did not answer between two analysis calls; run again",
  report_persist_failed: "migration missing, claim lost or payload invalid; the log has the cause",
  recipient_phone_missing: "enter the owner's phone in users.phone, then run again",
  recipient_email_missing: "enter a valid address in users.email, then run again",
  recipient_not_on_whatsapp:
    "WhatsApp does not know this number: correct the owner's users.phone, then run again",
  sender_tenant_missing: "set WHATSAPP_REPORT_SENDER_TENANT_ID",
  email_sender_tenant_missing: "set WEEKLY_REPORT_EMAIL_SENDER_TENANT_ID",
  email_sender_address_missing: "give the central tenant's tenant_config.config.email an address",
  email_sender_domain_unverified: "verify the sender's domain at the e-mail provider",
  delivery_unknown: "the provider may have the message: opsctl deliveries look-up",
  lease_expired_after_dispatch: "a process died while sending: opsctl deliveries look-up",
  delivery_prepare_failed: "the message could not be made; the log has the kind of the fault",
  delivery_send_broke_off: "the provider may have the message: opsctl deliveries look-up",
  email_not_answering:
    "the e-mail provider gave no clear answer many times in a row; the next run sends the rest",
  whatsapp_not_answering: "the gateway gave no clear answer many times in a row; the next run sends the rest",
  delivery_busy: "another process is sending it; run again when it is done",
  delivery_not_recorded:
    "it was sent, but the database could not be told; once its lease has ended: opsctl deliveries look-up",
  delivery_claim_lost: "it was sent, but another process had given it up: opsctl deliveries reconcile",
  delivery_row_lost:
    "the database has lost the delivery's row: note the provider's id, a rerun would send it again",
  timeline_entry_failed: "it was sent; only its timeline entry is missing: opsctl deliveries repair",
  email_unreachable: "no connection to the e-mail provider: look at EMAIL_API_URL and the network",
  email_timeout: "the e-mail provider did not answer in time; a message that was on its way is in doubt",
  email_answer_unreadable:
    "what answers is not the e-mail provider: look at EMAIL_API_URL; a message that was on its way is in doubt",
  email_api_key_invalid: "the e-mail provider refuses EMAIL_API_KEY: opsctl secret set EMAIL_API_KEY",
  daily_quota_exceeded: "the e-mail provider's daily quota is used up",
  monthly_quota_exceeded: "the e-mail provider's monthly quota is used up",
  SOCIAL_EDITORIALS_CRON_SECRET_MISSING:
    "put the alias into its file, never into the environment: opsctl secret set SOCIAL_EDITORIALS_CRON_SECRET",
  WORKER_HTTP_401:
    "the alias SOCIAL_EDITORIALS_CRON_SECRET differs from the editorial worker's CRON_SECRET: opsctl secret set SOCIAL_EDITORIALS_CRON_SECRET",
  SOCIAL_EDITORIALS_LLM_BUDGET_EXHAUSTED: "tenants remain; raising the ceiling is a decision, not a retry",
  SOCIAL_EDITORIALS_NO_PROGRESS: "look at cursor and reasonStopped in the summary, and at the failed tenants",
  HEARTBEAT_UNWRITABLE:
    "OPSCTL_LOG_DIR has to be an existing directory that this account may write to: opsctl doctor weekly",
  MONDAY_TOO_SHORT: "the providers' rates are too low for this many owners",
  OWNERS_DROPPED:
    "far fewer owners than in the week before: did they leave, or did the application rename something? opsctl explain OWNERS_DROPPED",
  TENANT_NOT_ELIGIBLE: "it needs an owner, must not be archived, and its wallet must be active or in grace",
};

/** What means a single connection: a refusal of the run itself breaks it off, and a wait may heal the others. */
const REFUSED_CONNECTION = /^APP_HTTP_4(?!08|29)\d\d$/;

const CONNECTION_HINT =
  "the application refuses this connection alone; the report went out without it, and the owner may have to connect it again";

/** What to do about a failure, or undefined; for the gateway's codes also what is wrong. */
export function hintFor({ step, code, cause }: Pick<Failure, "step" | "code" | "cause">): string | undefined {
  if (step === "social" && REFUSED_CONNECTION.test(code)) return CONNECTION_HINT;
  if (Object.hasOwn(HINTS, code)) return HINTS[code];
  // These come from the send itself: the delivery's state shows whether the message may have been accepted.
  if (cause === undefined && /^gateway_(http|timeout|connection|answer)_?/.test(code)) return undefined;
  const advice = gatewayAdvice({ code, cause }, WEEKLY_GATEWAY);
  return advice === null ? undefined : `${advice.problem}. ${advice.fix}`;
}
