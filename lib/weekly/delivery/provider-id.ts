/** Meta's ids of messages: base64 in which the recipient's number comes first and the message's own id last. */
const META_ID = /^wamid\./;
const SHOWN = 12;

/**
 * A provider's message id as logs, summaries and files may have it: one that holds a number shows its end alone, which
 * still tells one message from another.
 */
export function shownProviderId(id: string): string {
  return META_ID.test(id) ? `wamid.…${id.slice("wamid.".length).slice(-SHOWN)}` : id;
}
