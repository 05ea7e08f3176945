/** Answers with the length of what was posted, at the listening socket 3, until SIGTERM. */
import process from "node:process";
import { listen } from "../../../lib/platform/server/server.ts";

const listener = await listen({
  host: "127.0.0.1",
  port: 0,
  fd: 3,
  fetch: async (request) => new Response(String((await request.text()).length)),
});
process.once("SIGTERM", () => void listener.stop(5_000).then(() => process.exit(0)));
console.log(listener.port);
