import { describe, expect, test } from "bun:test";
import { readAnswerBody } from "../../../lib/platform/http/body.ts";

const CAP = 10;

/** A response that announces what `headers` say and has these pieces, whatever was announced. */
function responseOf(pieces: string[], headers: Record<string, string>): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
      controller.close();
    },
  });
  return new Response(body, { headers });
}

describe("readAnswerBody()", () => {
  test.each([
    ["of an announced length", ["12345", "67890"], { "content-length": "10" }],
    ["of no announced length", ["12345", "67890"], {}],
    ["in chunks", ["12345", "67890"], { "transfer-encoding": "chunked" }],
  ])("reads a body %s that fits the cap", async (_how, pieces, headers) => {
    const read = await readAnswerBody(responseOf(pieces, headers as Record<string, string>), CAP);
    expect(read).toEqual({ text: "1234567890", tooLarge: false });
  });

  // Where the announced length does not bind the runtime, the pieces are counted.
  test.each([
    ["announced as too large", { "content-length": "11" }],
    ["of no announced length", {}],
    ["in chunks, with a length", { "transfer-encoding": "chunked", "content-length": "5" }],
    ["packed, with a length", { "content-encoding": "gzip", "content-length": "5" }],
    ["of an unreadable length", { "content-length": "5, 5" }],
    ["of a negative length", { "content-length": "-1" }],
  ])("stops at the cap: a body %s", async (_how, headers) => {
    const read = await readAnswerBody(
      responseOf(["123456", "78901"], headers as Record<string, string>),
      CAP,
    );
    expect(read).toEqual({ text: null, tooLarge: true });
  });

  test("leaves out a byte order mark, either way", async () => {
    const texts = [{ "content-length": "5" }, {}].map(
      async (headers) =>
        (await readAnswerBody(responseOf(["\uFEFF{}"], headers as Record<string, string>), CAP)).text,
    );
    expect(await Promise.all(texts)).toEqual(["{}", "{}"]);
  });

  test("is empty without a body", async () => {
    expect(await readAnswerBody(new Response(null), CAP)).toEqual({ text: "", tooLarge: false });
  });
});
