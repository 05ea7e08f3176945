/** What the answer to a post says of one accepted alert; a public shape. */
export type AlertAnswer = {
  alertname: string | null;
  status: string | null;
  squad: string;
  fingerprint: string;
  whatsapp: "sent" | "queued";
  issue: "created" | "duplicate" | "queued" | "refused" | "failed" | "not_firing";
  issueId?: string;
  /** False for an alert that was sent from memory; else absent. */
  durable?: false;
};
