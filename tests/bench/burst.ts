/**
 * A sender without the secret, bounded and on loopback alone. As a process of its own it takes: port, what it sends,
 * connections, seconds; and prints one line of JSON, a `Burst`.
 */
import { connect, type Socket } from "node:net";
import process from "node:process";

const PIECE_BYTES = 65_536;
const line = (start: string, more = "") => `${start} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;
const BODY = "Content-Type: application/json\r\nContent-Length: 2\r\n";

/** What it may send, again and again on the same connection. */
export const BURSTS = {
  "GET requests": line("GET /webhook"),
  "POST requests": `${line("POST /webhook", BODY)}{}`,
  "POST requests that ask to keep the connection": `${line("POST /webhook", `Connection: keep-alive\r\n${BODY}`)}{}`,
  "POST requests that expect to be asked": line("POST /webhook", `Expect: 100-continue\r\n${BODY}`),
  garbage: "\u0000\u00ff\u0001 this is no HTTP\r\n\r\n",
};

/** One of them. */
export type BurstKind = keyof typeof BURSTS;

/** What came of it: connections that were opened, and how many of them got how many answers. */
export type Burst = { connections: number; sentBytes: number; connectionsByAnswers: Record<number, number> };

/** Nothing yet. */
export const noBurst = (): Burst => ({ connections: 0, sentBytes: 0, connectionsByAnswers: {} });

/**
 * Keeps `connections` open for as long as `goesOn`, each sending one of `kinds` as fast as it is read; a new one for
 * each that is closed. One that has sent `bytesEach` sends nothing more and waits for its end. `burst` counts what has
 * ended.
 */
export async function sendBurst(
  to: { port: number; kinds: readonly BurstKind[]; connections: number; bytesEach?: number },
  goesOn: () => boolean,
  burst = noBurst(),
): Promise<Burst> {
  const sender = async (_: unknown, at: number) => {
    const text = BURSTS[to.kinds[at % to.kinds.length]!];
    const piece = Buffer.from(text.repeat(Math.ceil(PIECE_BYTES / text.length)), "latin1");
    while (goesOn()) {
      const { sentBytes, answers } = await sendUntilClosed(to, piece, goesOn);
      burst.connections += 1;
      burst.sentBytes += sentBytes;
      burst.connectionsByAnswers[answers] = (burst.connectionsByAnswers[answers] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: to.connections }, sender));
  return burst;
}

function sendUntilClosed(
  { port, bytesEach = Number.POSITIVE_INFINITY }: { port: number; bytesEach?: number },
  piece: Buffer,
  goesOn: () => boolean,
): Promise<{ sentBytes: number; answers: number }> {
  const socket = connect({ port, host: "127.0.0.1" });
  let sentBytes = 0;
  let answers = 0;
  const send = () => {
    while (!socket.destroyed && sentBytes < bytesEach && goesOn()) {
      sentBytes += piece.byteLength;
      if (!socket.write(piece)) return;
    }
    if (!goesOn()) socket.destroy();
  };
  socket
    .on("connect", send)
    .on("drain", send)
    .on("error", () => {});
  socket.on("data", (chunk: Buffer) => {
    answers += chunk.toString("latin1").split("HTTP/1.1 ").length - 1;
  });
  return closeOf(socket, goesOn).then(() => ({ sentBytes, answers }));
}

/** Resolves when the connection is closed, at the latest when `goesOn` ends. */
function closeOf(socket: Socket, goesOn: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const look = setInterval(() => goesOn() || socket.destroy(), 50);
    socket.once("close", () => {
      clearInterval(look);
      resolve();
    });
  });
}

if (import.meta.main) {
  const [port, kind, connections, seconds] = process.argv.slice(2) as [string, BurstKind, string, string];
  const endMs = performance.now() + Number(seconds) * 1_000;
  const to = { port: Number(port), kinds: [kind], connections: Number(connections) };
  console.log(JSON.stringify(await sendBurst(to, () => performance.now() < endMs)));
  process.exit(0);
}
