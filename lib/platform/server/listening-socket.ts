import { createServer, type Server, type Socket } from "node:net";

/** Where connections come in: an address of its own, or a listening socket that was handed over. */
export type ListenAddress = { host: string; port: number; fd?: number | undefined };

/**
 * Gives `onConnection` every connection that comes in at `address`, until the server that this returns is closed.
 *
 * Shape:  closing it leaves a socket that was handed over listening: its holder keeps what arrives.
 * Errors: those of listening, as the runtime words them.
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
