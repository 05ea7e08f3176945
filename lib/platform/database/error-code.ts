import type { BodyReader } from "./messages.ts";

const CODE_FIELD = "C".charCodeAt(0);
/** Of a code, one character more than every SQLSTATE has, so that no longer one is taken for it. */
const KEPT_LENGTH = 6;

/**
 * Finds the SQLSTATE in the body of an ErrorResponse that comes in parts, and keeps nothing else of it.
 *
 * Shape:  `read` takes the parts in order; `end` returns the code, empty if there was none, and begins anew.
 * Source: PostgreSQL documentation, Frontend/Backend Protocol, Error and Notice Message Fields: fields in any order, each
 *         a byte with its kind and a text that ends with a zero byte; a zero byte in the place of a kind ends them.
 */
export class ErrorCodeReader implements BodyReader {
  readonly type = "E";
  #field = 0;
  #code = "";

  read(part: Uint8Array): void {
    for (const byte of part) {
      if (this.#field === 0) this.#field = byte;
      else if (byte === 0) this.#field = 0;
      else if (this.#field === CODE_FIELD && this.#code.length < KEPT_LENGTH)
        this.#code += String.fromCharCode(byte);
    }
  }

  end(): string {
    const code = this.#code;
    this.#field = 0;
    this.#code = "";
    return code;
  }
}
