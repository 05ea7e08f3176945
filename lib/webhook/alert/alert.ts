import type { StateReason } from "./state-reason.ts";

/** The team that an alert concerns; `geral` is everybody. */
export type Squad = "infra" | "security" | "geral";

/** A unit that a rule may give its value, in an annotation or label `unit`. */
export type Unit = "bytes" | "percent";

/**
 * One alert as it was accepted.
 *
 * Shape: texts are the sender's, of at most 65,536 units; null where the sender sent none. `name` is the rule's title
 *        for people (see `alertName`); `labels` has text values only.
 */
export type Alert = {
  name: string | null;
  status: string | null;
  firing: boolean;
  squad: Squad;
  severity: string | null;
  fingerprint: string;
  summary: string | null;
  /** The rule's description; the platform's error when the rule could not be evaluated. */
  description: string | null;
  /** RFC 3339 as sent, when it can be read as an instant. */
  startsAt: string | null;
  endsAt: string | null;
  /** The number that the rule compares, as text: `612368384`; another text as it was sent. */
  value: string | null;
  unit?: Unit | null;
  /** Why it fires or has ended without a measured value. */
  reason?: StateReason | null;
  labels: Record<string, string>;
  ruleUrl: string | null;
  silenceUrl: string | null;
  dashboardUrl: string | null;
  /** How many alerts of the same notification the sender left out. */
  truncatedAlerts: number;
};
