import { randomInt } from "node:crypto";
import { createServer } from "node:net";
import process from "node:process";

/**
 * The ports that a process takes are its own: below those that the kernel hands out, and another range in each worker
 * of `make test`. Otherwise a neighbour could get the port before the program that it is for.
 */
const [FIRST, EACH, WORKERS] = [12_000, 2_000, 10];
const from = FIRST + (Number(process.env.BUN_TEST_WORKER_ID ?? 0) % WORKERS) * EACH;
let taken = randomInt(EACH);

/** A port of loopback on which nothing listens. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < EACH; tries += 1) {
    taken = (taken + 1) % EACH;
    const port = from + taken;
    if (await canListen(port)) return port;
  }
  throw new Error(`No port from ${from} to ${from + EACH - 1} is free`);
}

async function canListen(port: number): Promise<boolean> {
  const server = createServer();
  return await new Promise((resolve) => {
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
