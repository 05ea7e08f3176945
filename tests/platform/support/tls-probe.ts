/** What `sessionsOf` says of the URLs in the first argument, under the runtime that runs this file. */
import process from "node:process";
import { sessionsOf } from "./tls-session.ts";

console.log(JSON.stringify(await sessionsOf(JSON.parse(process.argv[2] ?? "[]"))));
