/** A relay in front of a database or another peer that can be cut, closed, and made to lose a statement's answer. */
import { Buffer } from "node:buffer";
import { connect, createServer, type Socket } from "node:net";
import { freePort } from "../support/free-port.ts";

/** A running relay. */
export type TcpProxy = AsyncDisposable & {
  port: number;
  /** How many connections it has had. */
  connections: number;
  /** How often an answer was lost by `loseAnswerTo`. */
  lost: number;
  /** Cuts every connection; new ones are still taken. */
  cut(): void;
  /** Cuts every connection and refuses new ones, until `open`. */
  close(): void;
  open(): void;
  /** Cuts every connection and stops listening: new ones are refused by the kernel, until `open`. */
  vanish(): void;
  /** Lets every open connection fall silent for good: nothing arrives any more, and nothing breaks. */
  silence(): void;
  /** Leads new connections to another port. */
  lead(port: number): void;
  /**
   * The next statement that names `text` is carried out, and its answer never arrives: the connection breaks in its
   * place. Works on a statement's first use of a connection, while its text is sent.
   */
  loseAnswerTo(text: string): void;
  stop(): Promise<void>;
};

/** The ends of a successful answer: the command's tag, then "ready, no transaction open", so it is committed. */
const COMMITTED = ["SELECT 1", "COMMIT"].map((tag) => Buffer.from(`${tag}\0Z\0\0\0\x05I`, "latin1"));

/** Starts a relay to a port of this machine; `rewrite` may change what the server says. */
export async function startTcpProxy(
  targetPort: number,
  rewrite = (bytes: Buffer) => bytes,
): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let closed = false;
  let target = targetPort;
  let silenced = 0;
  let wanted: string | null = null;

  const server = createServer((client) => {
    proxy.connections += 1;
    if (closed) return void client.destroy();
    const upstream = connect(target, "127.0.0.1");
    let losing = false;
    const generation = silenced;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on("data", (bytes: Buffer) => {
      if (generation < silenced) return;
      if (wanted !== null && bytes.includes(wanted)) {
        losing = true;
        wanted = null;
      }
      upstream.write(bytes);
    });
    upstream.on("data", (bytes: Buffer) => {
      if (generation < silenced) return;
      if (losing && COMMITTED.some((end) => bytes.includes(end))) {
        proxy.lost += 1;
        client.destroy();
        return;
      }
      client.write(rewrite(bytes));
    });
  });

  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  const proxy: TcpProxy = {
    port: 0,
    lost: 0,
    connections: 0,
    cut,
    close() {
      closed = true;
      cut();
    },
    open() {
      closed = false;
      if (!server.listening) server.listen(proxy.port, "127.0.0.1");
    },
    vanish() {
      server.close();
      cut();
    },
    silence() {
      silenced += 1;
    },
    lead(port) {
      target = port;
    },
    loseAnswerTo(text) {
      wanted = text;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        cut();
      }),
    [Symbol.asyncDispose]: () => proxy.stop(),
  };
  proxy.port = await freePort();
  await new Promise<void>((resolve) => server.listen(proxy.port, "127.0.0.1", resolve));
  return proxy;
}
