/** A proxy in front of PostgreSQL whose packets are cut where the test wants. */
import { readFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { until } from "../../support/until.ts";
import { type Listening, listen } from "./wire.ts";

/** Smaller than what the tests look for. */
const PIECE_BYTES = 4;

/** Passes everything on to `port`, and an answer that names `text` in pieces: each is read before the next is sent. */
export async function cuttingProxy(port: number, text: string): Promise<Listening & { cuts: () => number }> {
  let cuts = 0;
  const listening = await listen((client) => {
    const upstream = connect(port, "127.0.0.1");
    let passed: Promise<unknown> = Promise.resolve();
    const passOn = async (bytes: Buffer) => {
      if (!bytes.includes(text)) return void client.write(bytes);
      for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
        // It ends the connection when it has read enough.
        if (client.destroyed) return;
        client.write(bytes.subarray(at, at + PIECE_BYTES));
        cuts += 1;
        await until("the piece is read", async () => (await unread(client)) === 0);
      }
    };
    upstream.on("error", () => {}).on("close", () => passed.then(() => client.destroy()));
    upstream.on("data", (bytes: Buffer) => {
      passed = passed.then(() => passOn(bytes));
    });
    client.on("data", (bytes: Buffer) => upstream.write(bytes));
    client.on("close", () => upstream.destroy());
  });
  return Object.assign(listening, { cuts: () => cuts });
}

/** How many bytes this socket's peer on this host has not read: zero, too, when there is no such peer any more. */
async function unread({ localPort, remotePort }: Socket): Promise<number> {
  const end = (port: number | undefined) =>
    `0100007F:${(port ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
  const table = await readFile("/proc/net/tcp", "latin1");
  // Of each end the other end's address, its state, what waits to be sent and what waits to be read.
  const waiting = (from: number | undefined, to: number | undefined) =>
    new RegExp(` ${end(from)} ${end(to)} \\S+ (\\S+):(\\S+) `).exec(table)?.slice(1) ?? ["0", "0"];
  const [unsent] = waiting(localPort, remotePort);
  const [, left] = waiting(remotePort, localPort);
  return Number.parseInt(unsent!, 16) + Number.parseInt(left!, 16);
}
