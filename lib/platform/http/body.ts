/**
 * The body of `response` as text; null when it is larger than the cap, of which never more is held.
 *
 * Behaviour: read at once where its length is announced and within the cap, because no runtime then reads further; else
 *            piece by piece. The rest of a body that is too large is left unread, and its connection closed.
 * Units:     bytes.
 * Errors:    throws what the runtime throws when the body breaks off.
 */
export async function readBody(response: Response, maxBytes: number): Promise<string | null> {
  if (isAnnouncedWithin(response.headers, maxBytes)) return await response.text();
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

/** False where the length can be another one: the body comes in chunks, or could be unpacked. */
function isAnnouncedWithin(headers: Headers, maxBytes: number): boolean {
  const length = headers.get("content-length");
  if (length === null || !/^\d{1,15}$/.test(length) || Number(length) > maxBytes) return false;
  return !headers.has("transfer-encoding") && !headers.has("content-encoding");
}
