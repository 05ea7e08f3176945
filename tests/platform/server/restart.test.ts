/** A service that restarts behind a held socket, under load: nothing is refused, nothing is reset. */
import { expect, test } from "bun:test";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { until } from "../../support/until.ts";
import { holdSocket } from "../support/held-socket.ts";
import { request, speak } from "../support/raw-http.ts";
import { startProbe } from "../support/start-probe.ts";

const RESTARTS = 20;
const CLIENTS = 6;
async function end(child: ChildProcess): Promise<void> {
  const exit = once(child, "exit");
  child.kill("SIGTERM");
  expect(await exit).toEqual([0, null]);
}

test("listen() at a socket that another process keeps open loses nothing over 20 restarts", async () => {
  const held = holdSocket();
  const seen = new Map<string, number>();
  let isOver = false;
  const post = request("POST /x", [], "abc".repeat(3_000));
  const client = async () => {
    while (!isOver) {
      const { text } = await speak(held.port, [post.subarray(0, 4_000), post.subarray(4_000)]);
      const answer = text.split("\r\n\r\n")[1] ?? "";
      seen.set(answer, (seen.get(answer) ?? 0) + 1);
    }
  };
  let child = await startProbe(held.fd);
  const clients = Array.from({ length: CLIENTS }, client);
  for (let restart = 0; restart < RESTARTS; restart += 1) {
    const before = seen.get("9000") ?? 0;
    await end(child);
    child = await startProbe(held.fd);
    await until("an answer for each client", () => (seen.get("9000") ?? 0) >= before + CLIENTS);
  }
  isOver = true;
  await Promise.all(clients);
  await end(child);
  held.close();
  expect([...seen.keys()]).toEqual(["9000"]);
  expect(seen.get("9000")).toBeGreaterThan(RESTARTS * CLIENTS);
});
