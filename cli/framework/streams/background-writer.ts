import { write } from "node:fs";
import { nativeErrorWrite, type WriteSome } from "../../../lib/platform/runtime.ts";

/**
 * Writes texts to a descriptor in their order, while the work goes on.
 *
 * Shape:     `drained` resolves when all is written, at the latest after `limitMs`.
 * Behaviour: what a reader that stopped does not read waits in memory; beyond `mostChars` texts are lost. How many is
 *            told to `onLost` once the reader goes on. A failure to write is ignored.
 */
export type BackgroundWriter = { write(text: string): void; drained(limitMs: number): Promise<void> };

const STDERR = 2;
const RETRY_MS = 10;

/** See `BackgroundWriter`. */
export function backgroundWriter(
  fd: number,
  { mostChars, onLost }: { mostChars: number; onLost: (texts: number) => void },
): BackgroundWriter {
  const send = writeTo(fd);
  let waiting = "";
  let lost = 0;
  let working: Promise<void> | null = null;

  const work = async () => {
    while (waiting !== "") {
      const text = waiting;
      waiting = "";
      await writeWhole(send, text);
      const count = lost;
      lost = 0;
      if (count > 0) onLost(count);
    }
    working = null;
  };
  return {
    write(text) {
      if (waiting.length + text.length > mostChars) lost += 1;
      else waiting += text;
      working ??= work();
    },
    async drained(limitMs) {
      if (working === null) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, limitMs);
      await Promise.race([working, promise]);
      clearTimeout(timer);
    },
  };
}

async function writeWhole(send: WriteSome, text: string): Promise<void> {
  const bytes = new TextEncoder().encode(text);
  for (let offset = 0; offset < bytes.length; ) offset += await writeSome(send, bytes.subarray(offset));
}

/** How many bytes are done with. */
async function writeSome(send: WriteSome, bytes: Uint8Array): Promise<number> {
  try {
    return await send(bytes);
  } catch (error) {
    const { code, name } = error as NodeJS.ErrnoException;
    if (code !== "EAGAIN" && name !== "WouldBlock") return bytes.length;
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    return 0;
  }
}

/** Not `writeSync`: it would wait for the reader, and everything else with it. */
function writeTo(fd: number): WriteSome {
  const native = fd === STDERR ? nativeErrorWrite() : null;
  if (native !== null) return native;
  return (bytes) =>
    new Promise((resolve, reject) => {
      write(fd, bytes, 0, bytes.length, null, (error, written) => {
        if (error === null) resolve(written);
        else reject(error);
      });
    });
}
