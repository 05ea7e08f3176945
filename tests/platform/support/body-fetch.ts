/** Reads bodies in the ways that a test asks for by path, and says what it read. */
import { createHash } from "node:crypto";

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
    seen.ends[name] = await endOf(body).catch(() => "broken");
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

async function endOf(body: Request["body"]): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body ?? []) {
    size += piece.byteLength;
    if (size > MAX_BYTES) return "payload_too_large";
    pieces.push(piece);
  }
  return told(Buffer.concat(pieces));
}
