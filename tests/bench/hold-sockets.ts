/**
 * Holds so many open TCP sockets, the first argument: both ends of connections to itself, at the loopback address that
 * is the second. Prints `ready` and ends with its standard input.
 */
import { connect, createServer, type Socket } from "node:net";
import process from "node:process";

const [count, host] = [Number(process.argv[2]), process.argv[3]!];
const AT_ONCE = 200;
const held: Socket[] = [];

const server = createServer((socket) => {
  held.push(socket);
});
await new Promise<void>((resolve) => server.listen({ host, port: 0, backlog: 511 }, resolve));
const { port } = server.address() as { port: number };
while (held.length < count) {
  const batch = Array.from({ length: Math.min(AT_ONCE, Math.ceil((count - held.length) / 2)) }, open);
  held.push(...(await Promise.all(batch)));
}
console.log("ready");
process.stdin.on("end", () => process.exit(0)).resume();

function open(): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port }, () => resolve(socket));
    socket.once("error", reject);
  });
}
