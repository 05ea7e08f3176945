import { join } from "node:path";
import { readProcFile } from "../../host/proc-file.ts";

/** A listening socket in the kernel's tables. */
const LISTEN = "0A";

/**
 * Whether something listens on a TCP port, told by the kernel's tables; null when they cannot be read.
 *
 * Shape: no connection is made, because one would start a service that waits behind its socket.
 * Source: Documentation/networking/proc_net_tcp.rst.
 */
export async function isListening(port: number, procNet: string): Promise<boolean | null> {
  const texts = await Promise.all(["tcp", "tcp6"].map((name) => readProcFile(join(procNet, name))));
  if (texts.every((text) => text === null)) return null;
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return texts.some((text) =>
    (text ?? "").split("\n").some((line) => {
      const [, local, , state] = line.trim().split(/\s+/);
      return state === LISTEN && local?.endsWith(suffix) === true;
    }),
  );
}
