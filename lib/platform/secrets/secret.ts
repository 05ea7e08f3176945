import { REDACTED, registerSecret } from "./redact.ts";

/**
 * A value that shows `<secret>` as text, as JSON and when inspected; call `open()` only where the value is sent. Making
 * one registers it with `redact`, so that a library which quotes the value cannot print it either.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
    registerSecret(value);
  }

  open(): string {
    return this.#value;
  }

  toString(): string {
    return REDACTED;
  }

  toJSON(): string {
    return REDACTED;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return REDACTED;
  }
}
