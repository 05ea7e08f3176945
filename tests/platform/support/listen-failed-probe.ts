/** Fails to listen where another process listens already, says so and has nothing left to do. */
import process from "node:process";
import { listen } from "../../../lib/platform/server/server.ts";

const address = { host: "127.0.0.1", port: Number(process.argv[2]) };
await listen({ ...address, fetch: () => new Response() }).catch(({ code }) => console.log(code));
