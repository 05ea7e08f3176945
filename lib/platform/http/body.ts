/** How the reading of a body ended; `text` is null unless all of it arrived within the cap. */
export type BodyRead = { text: string | null; tooLarge: boolean };

/**
 * Reads an answer's body piece by piece and stops at the cap.
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
