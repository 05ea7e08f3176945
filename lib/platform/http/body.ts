/** How the reading of a body ended; `text` is null unless all of it arrived within the cap. */
export type BodyRead = { text: string | null; tooLarge: boolean };

/**
 * Reads the body of `response`, of which never more than the cap is held.
 *
 * Behaviour: at once where its length is announced and within the cap, because no runtime then reads further; else
 *            piece by piece.
 * Units:     bytes.
 * Errors:    throws what the runtime throws when the body breaks off.
 */
export async function readAnswerBody(response: Response, maxBytes: number): Promise<BodyRead> {
  const announced = announcedBytes(response.headers);
  if (announced === null || announced > maxBytes) return await readBody(response.body, maxBytes);
  return { text: await response.text(), tooLarge: false };
}

/** Null where the length can be another one: the body comes in chunks, or could be unpacked. */
function announcedBytes(headers: Headers): number | null {
  const length = headers.get("content-length");
  if (length === null || !/^\d{1,15}$/.test(length)) return null;
  return headers.has("transfer-encoding") || headers.has("content-encoding") ? null : Number(length);
}

/**
 * Reads a body piece by piece and stops at the cap.
 *
 * Units:  bytes.
 * Errors: throws what the runtime throws when the body breaks off.
 */
export async function readBody(body: ReadableStream<Uint8Array> | null, maxBytes: number): Promise<BodyRead> {
  if (body === null) return { text: "", tooLarge: false };
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  while (true) {
    const { done, value } = await reader.read();
    if (done) return { text: text + decoder.decode(), tooLarge: false };
    bytes += value.byteLength;
    if (bytes > maxBytes) return { text: null, tooLarge: true };
    text += decoder.decode(value, { stream: true });
  }
}
