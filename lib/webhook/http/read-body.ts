import { bytesWithin } from "./bytes-within.ts";

/** The largest body that is accepted: some 8,000 alerts. */
export const MAX_BODY_BYTES = 8_388_608;
/** A body up to this size needs no share of memory: a small alert does not wait behind large ones. */
const SMALL_BYTES = 65_536;

/** How long a sender may take for its body; the platform gives up after the same time. */
const LIMIT_MS = 30_000;

/** A request's body as JSON, or the code of the answer that says why there is none. */
export type BodyRead =
  | { value: unknown }
  | { problem: "unsupported_media_type" | "payload_too_large" | "invalid_json" | "timeout" | "overloaded" };

/** Waits for a share of memory for so many bytes; false when there was none in time. */
export type Admit = (bytes: number) => Promise<boolean>;

/**
 * Reads a request's body as JSON.
 *
 * Behaviour: a missing content type counts as JSON, and so does `application/*+json`; the text is UTF-8 whatever the
 *            header says, with or without a byte order mark. A compressed body is refused: it may unpack to any size.
 *            Never holds more than the limit, and more than 64 KiB only of a body that was admitted. One without a
 *            length is admitted when it is found to be large, as if it were of the largest size.
 * Errors:    a body that is too deep for the runtime's parser, or that breaks off, is `invalid_json`.
 */
export async function readBody(request: Request, admit: Admit, limitMs = LIMIT_MS): Promise<BodyRead> {
  const { headers } = request;
  if (!isJson(headers.get("content-type")) || !isPlain(headers.get("content-encoding")))
    return { problem: "unsupported_media_type" };
  const length = Number(headers.get("content-length"));
  if (length > MAX_BODY_BYTES) return { problem: "payload_too_large" };
  if (length > SMALL_BYTES && !(await admit(length))) return { problem: "overloaded" };
  const mayGrow = length > 0 ? undefined : { bytes: SMALL_BYTES, admit: () => admit(MAX_BODY_BYTES) };
  const read = await bytesWithin(request.body, { maxBytes: MAX_BODY_BYTES, limitMs, mayGrow });
  if (typeof read !== "string") return parse(read);
  return { problem: read === "broken" ? "invalid_json" : read };
}

const JSON_TYPE = /^application\/(?:[\w!#$&^.+-]+\+)?json$/;

function isJson(contentType: string | null): boolean {
  const essence = (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return essence === "" || JSON_TYPE.test(essence);
}

function isPlain(contentEncoding: string | null): boolean {
  return contentEncoding === null || /^(?:identity)?$/i.test(contentEncoding);
}

function parse(bytes: Uint8Array): BodyRead {
  try {
    return { value: JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) };
  } catch {
    return { problem: "invalid_json" };
  }
}
