/**
 * The body of `response` as text; null when it is larger than the cap, of which never more is held.
 *
 * Behaviour: the rest of a body that is too large is left unread, and its connection closed.
 * Errors:    throws what the runtime throws when the body breaks off.
 */
export async function readBody(response: Response, maxBytes: number): Promise<string | null> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true };
    if (done) return text + decoder.decode();
    bytes += value!.byteLength;
    if (bytes > maxBytes) break;
    text += decoder.decode(value, { stream: true });
  }
  // Not awaited: nothing depends on how it ends.
  reader?.cancel().catch(() => {});
  return null;
}
