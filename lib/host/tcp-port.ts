import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** The state of a listening socket in the kernel's tables. */
const LISTEN = "0A";

/**
 * Whether something on this host listens on a TCP port; null when the kernel's tables cannot be read.
 *
 * Behaviour: reads those tables and makes no connection, because a connection would start a service that waits behind
 *            its socket.
 * Source:    Documentation/networking/proc_net_tcp.rst.
 */
export async function isListening(port: number, procNet: string): Promise<boolean | null> {
  const read = (name: string) => readFile(join(procNet, name), "utf8").catch(() => null);
  const texts = await Promise.all([read("tcp"), read("tcp6")]);
  if (texts.every((text) => text === null)) return null;
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return texts.some((text) =>
    (text ?? "").split("\n").some((line) => {
      const [, local, , state] = line.trim().split(/\s+/);
      return state === LISTEN && local?.endsWith(suffix) === true;
    }),
  );
}
