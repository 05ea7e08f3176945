/** Why a body could not be read. */
export type ReadProblem = "payload_too_large" | "timeout" | "broken";

/**
 * All bytes of `body`, as long as they keep within `maxBytes` and no piece takes longer than `stallMs`.
 *
 * Shape:  what exceeds a limit is left unread.
 * Errors: `broken` when the sender went away.
 */
export async function bytesWithin(
  body: ReadableStream<Uint8Array> | null,
  { maxBytes, stallMs }: { maxBytes: number; stallMs: number },
): Promise<Uint8Array | ReadProblem> {
  if (body === null) return new Uint8Array();
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    while (true) {
      const piece = await withinTime(reader.read(), stallMs);
      if (piece === "timeout") return "timeout";
      if (piece.done) return Buffer.concat(chunks, bytes);
      bytes += piece.value.byteLength;
      if (bytes > maxBytes) return "payload_too_large";
      chunks.push(piece.value);
    }
  } catch {
    return "broken";
  } finally {
    // Not awaited: on a stalled body it ends only when the connection does.
    reader.cancel().catch(() => {});
  }
}

async function withinTime<T>(promise: Promise<T>, ms: number): Promise<T | "timeout"> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<"timeout">((resolve) => {
    timer = setTimeout(() => resolve("timeout"), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
