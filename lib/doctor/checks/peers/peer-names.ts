/** Whom a check asks, where its name does not say it. */
const PEERS: Readonly<Record<string, string>> = {
  ...{ "database schema": "the database", migrations: "the database", recipients: "the database" },
  ...{ "last week": "the database", "e-mail sender": "the database" },
  "whatsapp sender": "the messaging gateway",
  ...{ rules: "the metrics platform", folder: "the metrics platform", receivers: "the metrics platform" },
  ...{ "metrics data source": "the metrics platform", "logs data source": "the metrics platform" },
  "contact point": "the metrics platform",
  container: "the container engine",
  outbox: "the webhook or its state",
  ...{ service: "the webhook", "alert webhook": "the alert webhook" },
};
/** Those whose name is the peer's. */
const NAMED_AFTER_PEER: readonly string[] = [
  ...["database", "messaging gateway", "e-mail provider", "application"],
  ...["hosting provider", "issue tracker"],
];

/** The peer that the check of this name asks; null for one that reads files of this host, or starts a program. */
export function peerOf(check: string): string | null {
  return NAMED_AFTER_PEER.includes(check) ? `the ${check}` : (PEERS[check] ?? null);
}
