import { createServer, type Server, type Socket } from "node:net";

/** Where connections come in: an address, or as `fd` a listening socket that was handed over. */
export type ListenAddress = { host: string; port: number; fd?: number | undefined };

/**
 * Calls `onConnection` with every connection to the address, until the returned server is closed.
 *
 * Behaviour: closing it does not close a socket that was handed over: its holder keeps what arrives.
 * Errors:    those of the runtime for listening.
 */
export function openListeningSocket(
  { host, port, fd }: ListenAddress,
  onConnection: (socket: Socket) => void,
): Promise<Server> {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, onConnection);
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(fd === undefined ? { host, port } : { fd }, () => {
      server.off("error", reject);
      resolve(server);
    });
  });
}
