/** The probe of the public port in the four ways in which the service runs: two runtimes, two ways of listening. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { listen } from "../../../lib/platform/server/server.ts";
import { type HeldSocket, holdSocket } from "../../platform/support/held-socket.ts";
import { denoBinary } from "../../support/deno-binary.ts";
import { probeApp } from "./app-probe.ts";

/** The four ways, by name. */
export const WAYS = [
  "Bun",
  "Bun, at a socket that was handed over",
  "Deno",
  "Deno, at a socket that was handed over",
] as const;

/** One of the four. */
export type Way = (typeof WAYS)[number];

type Probe = { port: number; stop(): Promise<void> };

/** Starts all four; `ports` has the port of each. */
export async function startProbes(): Promise<{ ports: Record<Way, number>; stop(): Promise<void> }> {
  const probes = await Promise.all([
    startHere(),
    startHere(holdSocket()),
    startOnDeno(),
    startOnDeno(holdSocket()),
  ]);
  const ports = Object.fromEntries(WAYS.map((way, at) => [way, probes[at]!.port])) as Record<Way, number>;
  return { ports, stop: async () => void (await Promise.all(probes.map((probe) => probe.stop()))) };
}

async function startHere(held?: HeldSocket): Promise<Probe> {
  const { fetch } = probeApp({ request() {}, rejected() {} });
  const listener = await listen({ host: "127.0.0.1", port: 0, fd: held?.fd, fetch });
  return { port: listener.port, stop: () => listener.stop(1_000) };
}

async function startOnDeno(held?: HeldSocket): Promise<Probe> {
  const args = ["run", "-A", "--no-lock", join(import.meta.dir, "app-probe.ts")];
  const handedOver = { LISTEN_PID: "1", LISTEN_FDS: "1", LISTEN_FDNAMES: "webhook" };
  const child = spawn(denoBinary(), args, {
    cwd: join(import.meta.dir, "../../.."),
    env: { ...process.env, ...(held === undefined ? {} : handedOver) },
    stdio: ["ignore", "pipe", "inherit", ...(held === undefined ? [] : [held.fd])],
  });
  const port = Number(String((await once(child.stdout!, "data"))[0]));
  return {
    port,
    async stop() {
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
      held?.close();
    },
  };
}
