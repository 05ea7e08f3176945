/** Reads bodies in the ways that a test asks for by path, and says what it read. */
import { createHash } from "node:crypto";
import process from "node:process";
import { listen } from "../../../lib/platform/server/server.ts";
import { bytesWithin } from "../../../lib/webhook/http/bytes-within.ts";

/** The largest body that is read. */
export const MAX_BYTES = 8_000_000;

/** What is said of a body that came whole. */
export function told(bytes: Uint8Array): string {
  return `${bytes.byteLength} ${createHash("sha256").update(bytes).digest("hex")}`;
}

/** How bodies that were read ended, by the request's name; `held` are those that wait for `/go`. */
type Seen = { held: number; ends: Record<string, string> };

/** Answers every path of the tests. */
export function bodyFetch(): (request: Request) => Promise<Response> {
  const seen: Seen = { held: 0, ends: {} };
  let go = Promise.withResolvers<void>();
  const read = async (name: string, { body }: Request): Promise<Response> => {
    const bytes = await bytesWithin(body, { maxBytes: MAX_BYTES, limitMs: 60_000 });
    seen.ends[name] = typeof bytes === "string" ? bytes : told(bytes);
    return new Response(seen.ends[name]);
  };
  const hold = async (): Promise<void> => {
    seen.held += 1;
    await go.promise;
    seen.held -= 1;
  };
  return async (request) => {
    const [, how, name = ""] = new URL(request.url).pathname.split("/");
    if (how === "seen") return Response.json(seen);
    if (how === "go") {
      go.resolve();
      go = Promise.withResolvers();
      return new Response();
    }
    if (how === "unread") return new Response("unread");
    if (how === "first") {
      const reader = request.body!.getReader();
      const { value } = await reader.read();
      await reader.cancel();
      return new Response(String(value?.[0]));
    }
    if (how === "held") await hold();
    return await read(name, request);
  };
}

if (import.meta.main) {
  const listener = await listen({ host: "127.0.0.1", port: 0, fetch: bodyFetch() });
  process.once("SIGTERM", () => void listener.stop(0).then(() => process.exit(0)));
  console.log(listener.port);
}
