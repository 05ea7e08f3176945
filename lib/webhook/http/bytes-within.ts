import { withTimeout } from "../../platform/timeout.ts";

/** Why a body could not be read. */
export type ReadProblem = "payload_too_large" | "timeout" | "overloaded" | "broken";

/** How much of a body is read: more than `mayGrow.bytes` only after its `admit` has returned true. */
export type ReadLimits = {
  maxBytes: number;
  limitMs: number;
  mayGrow?: { bytes: number; admit: () => Promise<boolean> } | undefined;
};

/**
 * All bytes of `body`, when there are at most `maxBytes` and they arrive within `limitMs`.
 *
 * Behaviour: what exceeds a limit is left unread.
 * Errors:    `broken` when the sender went away.
 */
export async function bytesWithin(
  body: ReadableStream<Uint8Array> | null,
  limits: ReadLimits,
): Promise<Uint8Array | ReadProblem> {
  if (body === null) return new Uint8Array();
  const reader = body.getReader();
  try {
    return await withTimeout(
      limits,
      () => readAll(reader, limits),
      () => "timeout" as const,
    );
  } catch {
    return "broken";
  } finally {
    // Not awaited: on a stalled body it ends only when the connection does.
    reader.cancel().catch(() => {});
  }
}

async function readAll(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  { maxBytes, mayGrow }: ReadLimits,
): Promise<Uint8Array | ReadProblem> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  let isAdmitted = mayGrow === undefined;
  while (true) {
    const { done, value } = await reader.read();
    // Most bodies come in one piece, which needs no copy.
    if (done) return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, bytes);
    bytes += value.byteLength;
    if (bytes > maxBytes) return "payload_too_large";
    chunks.push(value);
    if (isAdmitted || bytes <= mayGrow!.bytes) continue;
    if (!(await mayGrow!.admit())) return "overloaded";
    isAdmitted = true;
  }
}
