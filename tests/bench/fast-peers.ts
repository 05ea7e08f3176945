/**
 * The three peers as a process of their own, fast and without a ledger: they answer what a healthy peer answers after
 * so many milliseconds, the first argument. Prints its base URL as its only line and ends with its standard input.
 */
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";

const latencyMs = Number(process.argv[2] ?? 5);
let sent = 0;

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 60,
  async fetch(request) {
    await request.arrayBuffer();
    if (latencyMs > 0) await delay(latencyMs);
    return answer(new URL(request.url).pathname);
  },
});

function answer(path: string): Response {
  if (path.startsWith("/instance/connectionState/")) {
    return Response.json({ instance: { instanceName: "ops", state: "open" } });
  }
  sent += 1;
  if (path.startsWith("/message/sendText/")) {
    return Response.json({ key: { id: `3EB0${sent}`, fromMe: true }, status: "PENDING" }, { status: 201 });
  }
  if (path === "/emails") return Response.json({ id: crypto.randomUUID() });
  if (path === "/api/v1/social/analytics/weekly") return Response.json({ ok: true });
  return new Response(null, { status: 404 });
}

console.log(server.url.origin);
process.stdin.on("end", () => process.exit(0)).resume();
