import type { Squad } from "./squad.ts";

/**
 * One alert as it was accepted.
 *
 * Shape: texts are the sender's, at most as long as the body they came in; null where the sender sent none. `name` is
 *        the rule's title for people (see `alertName`); `labels` has text values only.
 */
export type Alert = {
  name: string | null;
  status: string | null;
  firing: boolean;
  squad: Squad;
  severity: string | null;
  fingerprint: string;
  summary: string | null;
  description: string | null;
  /** RFC 3339 as sent, when it can be read as an instant. */
  startsAt: string | null;
  endsAt: string | null;
  /** The values of the rule's steps, as text: `B=612368384`. */
  value: string | null;
  labels: Record<string, string>;
  ruleUrl: string | null;
  silenceUrl: string | null;
  dashboardUrl: string | null;
  /** How many alerts of the same notification the sender left out. */
  truncatedAlerts: number;
};
