import type { Claim, SqliteDedup } from "../dedup/sqlite.ts";
import { OpsError } from "../platform/errors.ts";

/** What became of the alert: `suppressed` when one went out less than 30 minutes ago. */
export type AlertOutcome = "not_needed" | "sent" | "suppressed" | "failed";

/** Something that made the run fail: a public code, and a sentence for the operator. */
export type MonitorProblem = { code: string; message: string };

/** Sends the message, once: null when it is out, else why not. */
export type SendAlert = () => Promise<MonitorProblem | null>;

/** Opens the dedup that the host's processes share. */
export type OpenDedup = () => Promise<{ dedup: SqliteDedup; close(): void }>;

const KEY = "socket-monitor:total";

/** Outlives every run, and ends before the next one begins: a killed run must not silence the one after it. */
const PROVISIONAL_MS = 4 * 60_000;
const REPEAT_MS = 30 * 60_000;

/**
 * Sends the alert of an episode unless one went out less than 30 minutes ago.
 *
 * Shape:  the claim's confirmation carries its own token, with which a later run ends the episode. When the dedup cannot
 *         be used the message goes out all the same, since a second one is better than none, and the run fails.
 */
export async function alertOnce(
  openDedup: OpenDedup,
  send: SendAlert,
): Promise<{ alert: AlertOutcome; problems: MonitorProblem[] }> {
  const claimed = await withDedup(openDedup, (dedup) => dedup.claim(KEY, PROVISIONAL_MS));
  if ("problem" in claimed) {
    const failure = await send();
    const problems = [claimed.problem, ...(failure === null ? [] : [failure])];
    return { alert: failure === null ? "sent" : "failed", problems };
  }
  const claim = claimed.value;
  if (claim.status === "duplicate") return { alert: "suppressed", problems: [] };
  const failure = await send();
  const settled = await withDedup(openDedup, (dedup) => settle(dedup, claim, failure === null));
  const problems = [failure, "problem" in settled ? settled.problem : null].filter(
    (problem) => problem !== null,
  );
  return { alert: failure === null ? "sent" : "failed", problems };
}

/** Ends the episode, so that the next crossing alerts at once; a run in between that still sends is left alone. */
export async function endEpisode(openDedup: OpenDedup): Promise<MonitorProblem[]> {
  const ended = await withDedup(openDedup, (dedup) => {
    const claim = dedup.claim(KEY, PROVISIONAL_MS);
    const token = claim.status === "first" ? claim.token : claim.value;
    if (token !== null) dedup.release(KEY, token);
  });
  return "problem" in ended ? [ended.problem] : [];
}

function settle(dedup: SqliteDedup, { token }: Extract<Claim, { status: "first" }>, isSent: boolean): void {
  if (isSent) dedup.confirm(KEY, token, { ttlMs: REPEAT_MS, value: token });
  else dedup.release(KEY, token);
}

// Opened anew each time: the file is not kept open, and nothing of it in use, while the gateway takes its time.
async function withDedup<T>(
  openDedup: OpenDedup,
  use: (dedup: SqliteDedup) => T,
): Promise<{ value: T } | { problem: MonitorProblem }> {
  try {
    const { dedup, close } = await openDedup();
    try {
      return { value: use(dedup) };
    } finally {
      close();
    }
  } catch (error) {
    if (error instanceof OpsError) return { problem: { code: error.code, message: error.message } };
    const { code } = error as { code?: unknown };
    const message = `Cannot use the shared dedup: ${typeof code === "string" ? code : "unexpected failure"}`;
    return { problem: { code: "STATE_UNAVAILABLE", message } };
  }
}
