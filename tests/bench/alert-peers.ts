/**
 * Gateway and tracker as one process of their own, without a ledger: they answer what a healthy peer answers after so
 * many milliseconds, the first argument. Prints its base URL as its only line and ends with its standard input.
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
    const { pathname } = new URL(request.url);
    const body =
      request.method === "POST"
        ? ((await request.json()) as { variables?: { input?: { id?: string } } })
        : {};
    if (latencyMs > 0) await delay(latencyMs);
    sent += 1;
    if (pathname === "/graphql")
      return Response.json({ data: { issueCreate: created(body.variables?.input?.id) } });
    if (pathname.startsWith("/message/sendText/"))
      return Response.json({ key: { id: `3EB0${sent}`, fromMe: true }, status: "PENDING" }, { status: 201 });
    return Response.json([{ id: "1", name: "ops", connectionStatus: "open" }]);
  },
});

function created(id: string | undefined): object {
  const url = `https://linear.app/ops/issue/OPS-${sent}`;
  const issue = { id, identifier: `OPS-${sent}`, url, state: { id: "s", type: "unstarted" } };
  return { success: true, lastSyncId: sent, issue };
}

console.log(server.url.origin);
process.stdin.on("end", () => process.exit(0)).resume();
