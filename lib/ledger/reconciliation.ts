/** What a person decided about a delivery in doubt. */
export type Reconciliation = {
  state: "sent" | "failed";
  providerMessageId: string | null;
  reason: string;
  actor: string;
  /** The login of the session in which it was recorded; null before that was kept. */
  sessionUser: string | null;
  at: string;
};
