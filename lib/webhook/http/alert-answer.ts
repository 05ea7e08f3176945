import type { Alert } from "../alert/alert.ts";

/** What the answer to a post says of one accepted alert; a public shape. */
export type AlertAnswer = {
  alertname: string | null;
  status: string | null;
  squad: string;
  fingerprint: string;
  whatsapp: "sent" | "queued";
  issue: "created" | "duplicate" | "queued" | "refused" | "not_firing";
  issueId?: string;
};

/**
 * Takes the alerts of one request: on disk when it resolves, and sent as far as that could start at once.
 *
 * Errors: null when nothing could be kept (a full disk, a full outbox, a service that is stopping): nothing was.
 */
export type TakeAlerts = (alerts: readonly Alert[]) => Promise<AlertAnswer[] | null>;
