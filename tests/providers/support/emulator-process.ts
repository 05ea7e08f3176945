/** Vercel's own emulators of Vercel and Resend; prints where they listen. Run by Deno: they need a newer Node. */
import { createEmulator } from "emulate";

const seed = { vercel: { teams: [{ slug: "empty" }], projects: [{ name: "never-deployed" }] } };
const vercel = await createEmulator({ service: "vercel", port: 0, hostname: "127.0.0.1", seed });
const resend = await createEmulator({ service: "resend", port: 0, hostname: "127.0.0.1" });
console.log(JSON.stringify({ vercel: vercel.url, resend: resend.url }));
