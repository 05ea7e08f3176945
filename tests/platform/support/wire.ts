/** Servers and proxies on loopback that behave badly, for the tests of the database connection. */
import { connect, createServer, type Server, type Socket } from "node:net";

/** A listening server; `connections` counts those it has had, `open` those it has. */
export type Listening = AsyncDisposable & { port: number; connections: () => number; open: () => number };

/** Listens on a free port and hands every connection to `serve`. */
export async function listen(serve: (socket: Socket) => void): Promise<Listening> {
  const open = new Set<Socket>();
  let count = 0;
  const server: Server = createServer((socket) => {
    count += 1;
    open.add(socket);
    socket.on("error", () => {}).on("close", () => open.delete(socket));
    serve(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as { port: number }).port,
    connections: () => count,
    open: () => open.size,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Announces another process id than the backend's, as a pooler does. */
export function announceOtherProcess(bytes: Buffer): Buffer {
  const backendKeyData = Buffer.from([0x4b, 0, 0, 0, 12]);
  const at = bytes.indexOf(backendKeyData);
  if (at === -1) return bytes;
  const changed = Buffer.from(bytes);
  changed.writeUInt32BE(0x7fff_fff0, at + backendKeyData.length);
  return changed;
}

/** A pooler that counts what comes too early for it: statements sent before the one before them was answered. */
export type CountingPooler = Listening & { early: () => number };

/** A pooler in front of PostgreSQL, strict about the order of statements and answers on each of its connections. */
export async function countingPooler(port: number): Promise<CountingPooler> {
  let early = 0;
  const listening = await listen((socket) => {
    const upstream = connect(port, "127.0.0.1");
    // The login is the first thing that is answered with "ready for query".
    let unanswered = 1;
    const fromClient = messageTypes({ startup: true });
    const fromServer = messageTypes({ startup: false });
    socket.on("data", (bytes: Buffer) => {
      for (const type of fromClient(bytes)) {
        if (type === "Q" || type === "P") early += unanswered;
        if (type === "Q" || type === "S") unanswered += 1;
      }
      upstream.write(bytes);
    });
    upstream
      .on("error", () => {})
      .on("data", (bytes: Buffer) => {
        unanswered -= fromServer(bytes).filter((type) => type === "Z").length;
        socket.write(announceOtherProcess(bytes));
      });
    upstream.on("close", () => socket.destroy());
    socket.on("close", () => upstream.destroy());
  });
  return Object.assign(listening, { early: () => early });
}

/** Cuts a stream of the protocol into its messages; each call returns the types of those that are whole now. */
function messageTypes({ startup }: { startup: boolean }): (bytes: Buffer) => string[] {
  let rest: Buffer = Buffer.alloc(0);
  let typeBytes = startup ? 0 : 1;
  return (bytes) => {
    const types: string[] = [];
    rest = Buffer.concat([rest, bytes]);
    while (rest.length >= typeBytes + 4 && rest.length >= typeBytes + rest.readInt32BE(typeBytes)) {
      if (typeBytes === 1) types.push(String.fromCharCode(rest[0]!));
      rest = rest.subarray(typeBytes + rest.readInt32BE(typeBytes));
      typeBytes = 1;
    }
    return types;
  };
}
