const HEADER_BYTES = 5;

/**
 * Finds the messages in one direction of the protocol, wherever the network cuts them.
 *
 * Shape:  `read` calls `onMessage` at the end of each message, with its type and the last byte of its body.
 * Source: PostgreSQL documentation, Frontend/Backend Protocol, Message Formats: a byte with the type, four with the length
 *         of all that follows the type. The messages of the start that have no type are not for this.
 */
export class MessageReader {
  readonly #onMessage: (type: string, lastByte: number) => void;
  readonly #header = new DataView(new ArrayBuffer(HEADER_BYTES));
  #headerBytes = 0;
  #bodyLeft = 0;

  constructor(onMessage: (type: string, lastByte: number) => void) {
    this.#onMessage = onMessage;
  }

  read(bytes: Uint8Array): void {
    let at = 0;
    while (at < bytes.length) {
      if (this.#headerBytes < HEADER_BYTES) {
        this.#header.setUint8(this.#headerBytes, bytes[at]!);
        this.#headerBytes += 1;
        at += 1;
        if (this.#headerBytes < HEADER_BYTES) continue;
        this.#bodyLeft = this.#header.getUint32(1) - (HEADER_BYTES - 1);
      } else {
        const step = Math.min(this.#bodyLeft, bytes.length - at);
        at += step;
        this.#bodyLeft -= step;
      }
      if (this.#bodyLeft > 0) continue;
      this.#headerBytes = 0;
      this.#onMessage(String.fromCharCode(this.#header.getUint8(0)), bytes[at - 1]!);
    }
  }
}
