const HEADER_BYTES = 5;

/** Reads the bodies of the messages of one type, part by part. */
export type BodyReader = { readonly type: string; read(part: Uint8Array): void };

/**
 * Finds the messages in one direction of the protocol, wherever the network cuts them.
 *
 * Shape:  `read` calls `onMessage` at the end of each message, with its type and the last byte of its body; `bodies` has
 *         been given every part of that body before, if it is of its type.
 * Source: PostgreSQL documentation, Frontend/Backend Protocol, Message Formats: a byte with the type, four with the length
 *         of all that follows the type. The messages of the start that have no type are not for this.
 */
export class MessageReader {
  readonly #onMessage: (type: string, lastByte: number) => void;
  readonly #bodies: BodyReader | undefined;
  readonly #bodyType: number;
  readonly #header = new Uint8Array(HEADER_BYTES);
  #headerBytes = 0;
  #bodyLeft = 0;

  constructor(onMessage: (type: string, lastByte: number) => void, bodies?: BodyReader) {
    this.#onMessage = onMessage;
    this.#bodies = bodies;
    this.#bodyType = bodies?.type.charCodeAt(0) ?? -1;
  }

  read(bytes: Uint8Array): void {
    const header = this.#header;
    let at = 0;
    while (at < bytes.length) {
      if (this.#headerBytes < HEADER_BYTES) {
        header[this.#headerBytes] = bytes[at]!;
        this.#headerBytes += 1;
        at += 1;
        if (this.#headerBytes < HEADER_BYTES) continue;
        this.#bodyLeft = lengthOf(header) - (HEADER_BYTES - 1);
      } else {
        const step = Math.min(this.#bodyLeft, bytes.length - at);
        if (header[0] === this.#bodyType) this.#bodies?.read(bytes.subarray(at, at + step));
        at += step;
        this.#bodyLeft -= step;
      }
      if (this.#bodyLeft > 0) continue;
      this.#headerBytes = 0;
      this.#onMessage(String.fromCharCode(header[0]!), bytes[at - 1]!);
    }
  }
}

/** By shifts, because a `DataView` costs more in each of many small rows. */
function lengthOf(header: Uint8Array): number {
  return (header[1]! << 24) | (header[2]! << 16) | (header[3]! << 8) | header[4]!;
}
