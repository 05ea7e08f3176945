import type { ListedEmail, SentEmails } from "../../providers/resend/sent-emails.ts";
import type { Doubt } from "./doubt.ts";
import { askedTime } from "./evidence.ts";

/**
 * The provider's e-mails that may be those of deliveries in doubt, by time and mask.
 *
 * Shape: `isCovered` says whether everything of the time of a delivery was listed; where it was not, `code` says why.
 */
export type EmailCandidates = {
  emails: ListedEmail[];
  isCovered(doubt: Doubt): boolean;
  code: string;
};

/** A hundred thousand e-mails: what is older is not reached. */
const MAX_PAGES = 1_000;

/**
 * Lists what the provider keeps, page after page, once for all deliveries.
 *
 * Behaviour: ends early where the list shows the newest first and has passed the earliest dispatch: the provider does
 *            not promise that order, so it is watched. Only what may be a delivery's is kept in memory.
 */
export async function listCandidates(
  source: Pick<SentEmails, "list">,
  doubts: readonly Doubt[],
  signal: AbortSignal,
): Promise<EmailCandidates> {
  const earliestMs = Math.min(...doubts.map(({ dispatchedAtMs }) => askedTime(dispatchedAtMs).fromMs));
  const byMask = Map.groupBy(doubts, maskOf);
  const emails: ListedEmail[] = [];
  const order = watchOrder();
  const ended = (coveredFromMs: number, code: string): EmailCandidates => ({
    emails,
    isCovered: ({ dispatchedAtMs }) => askedTime(dispatchedAtMs).fromMs >= coveredFromMs,
    code,
  });
  for (let page = 0, after: string | null = null; page < MAX_PAGES; page += 1) {
    const listed = await source.list(after, signal);
    if (listed.status === "failed") return ended(order.reachedMs(), listed.code);
    order.watch(listed.emails);
    emails.push(...listed.emails.filter((email) => mayBeOneOf(email, byMask)));
    const isPast = order.reachedMs() < earliestMs;
    if (!listed.hasMore || isPast) return ended(Number.NEGATIVE_INFINITY, "");
    after = listed.emails.at(-1)!.id;
  }
  return ended(order.reachedMs(), "email_list_too_long");
}

/** Whether an e-mail has the time and the mask of a delivery. */
export function mayBeOf({ masks, createdAtMs }: ListedEmail, doubt: Doubt): boolean {
  const { fromMs, toMs } = askedTime(doubt.dispatchedAtMs);
  return createdAtMs >= fromMs && createdAtMs <= toMs && masks.includes(maskOf(doubt));
}

function mayBeOneOf(email: ListedEmail, byMask: ReadonlyMap<string, readonly Doubt[]>): boolean {
  return email.masks.some((mask) => byMask.get(mask)?.some((doubt) => mayBeOf(email, doubt)));
}

/** Mail servers, and the provider, may write an address in another case. */
function maskOf({ maskedHint }: Doubt): string {
  return (maskedHint ?? "").toLowerCase();
}

/** How far back the list has gone, as long as it shows the newest first; else nothing can be said. */
function watchOrder(): { watch(emails: readonly ListedEmail[]): void; reachedMs(): number } {
  let isNewestFirst = true;
  let lastMs = Number.POSITIVE_INFINITY;
  return {
    watch(emails) {
      for (const { createdAtMs } of emails) {
        if (createdAtMs > lastMs) isNewestFirst = false;
        lastMs = createdAtMs;
      }
    },
    reachedMs: () => (isNewestFirst ? lastMs : Number.POSITIVE_INFINITY),
  };
}
