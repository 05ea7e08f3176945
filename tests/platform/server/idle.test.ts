/** What a server costs while nothing happens: a connection that a proxy keeps open must not wake it. */
import { expect, test } from "bun:test";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { holdSocket } from "../support/held-socket.ts";
import { request } from "../support/raw-http.ts";
import { startProbe } from "../support/start-probe.ts";

const IDLE_MS = 5_000;
/** The runtime wakes itself some three times a second; a timer of 250 ms makes it sixty in all. */
const MOST_WAKES = 30;

/** How often the main thread of a process has waited for something and was woken. */
const wakesOf = (pid: number) =>
  Number(/^voluntary_ctxt_switches:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]);

test("listen() does not wake the process while its connections rest", async () => {
  const held = holdSocket();
  const probe = await startProbe(held.fd);
  const resting = connect({ port: held.port, host: "127.0.0.1" });
  try {
    resting.write(request("POST /x", ["Connection: keep-alive"], "abc"));
    await once(resting, "data");
    // What follows the answer, and the runtime's own work after the start.
    await Bun.sleep(1_000);
    const before = wakesOf(probe.pid!);
    await Bun.sleep(IDLE_MS);
    expect(wakesOf(probe.pid!) - before).toBeLessThan(MOST_WAKES);
    expect(resting.closed).toBe(false);
  } finally {
    resting.destroy();
    probe.kill("SIGKILL");
    await once(probe, "exit");
    held.close();
  }
});
