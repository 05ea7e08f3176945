const PASSWORD_MESSAGE = 0x70;
const LENGTH_BYTES = 4;

/**
 * The message that sends a password in clear text; null when there is no password to protect.
 *
 * Shape:  `p`, the length without the `p`, the password, a zero byte. An answer to a challenge (md5, scram-sha-256)
 *         never contains these bytes, nor does a statement: text holds no zero byte.
 * Source: postgresql.org/docs/18/protocol-message-formats.html, PasswordMessage, read 2026-11-22.
 */
export function clearTextAnswer(password: string): Uint8Array | null {
  if (password === "") return null;
  const text = Buffer.from(`${password}\0`, "utf8");
  const head = Buffer.alloc(1 + LENGTH_BYTES);
  head.writeUInt8(PASSWORD_MESSAGE);
  head.writeUInt32BE(LENGTH_BYTES + text.length, 1);
  return Buffer.concat([head, text]);
}
