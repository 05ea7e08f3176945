import type { Stats } from "node:fs";
import { join } from "node:path";
import { readClosedFile } from "../files/closed-file.ts";

/** The longest secret. */
export const MAX_SECRET_BYTES = 64 * 1024;

/**
 * The bytes of a secret's file in a directory, as `readClosedFile` reads it; undefined where there is none.
 *
 * Shape:  `isTrusted` accepts a file whose mode would be refused, such as one that systemd handed over.
 * Errors: SECRET_FILE_EXPOSED, SECRET_FILE_UNTRUSTED, SECRET_FILE_UNREADABLE.
 */
export function readSecretFile(
  name: string,
  directory: string,
  isTrusted: (stats: Stats, userId: number | undefined) => boolean = () => false,
): Uint8Array | undefined {
  return readClosedFile(join(directory, name), {
    subject: `secret ${name}`,
    reader: "opsctl",
    maxBytes: MAX_SECRET_BYTES,
    isTrusted,
  });
}
