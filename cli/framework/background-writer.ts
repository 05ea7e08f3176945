import { write } from "node:fs";

/**
 * Writes texts to a descriptor in their order, while the work goes on.
 *
 * Shape:     `drained` resolves when all is written, at the latest after `limitMs`.
 * Behaviour: what a reader that stopped does not read waits in memory; beyond `mostChars` texts are lost. How many is told
 *            to `onLost` once the reader goes on. A failure to write is ignored.
 */
export type BackgroundWriter = { write(text: string): void; drained(limitMs: number): Promise<void> };

const RETRY_MS = 10;

/** See `BackgroundWriter`. */
export function backgroundWriter(
  fd: number,
  { mostChars, onLost }: { mostChars: number; onLost: (texts: number) => void },
): BackgroundWriter {
  let waiting = "";
  let lost = 0;
  let working: Promise<void> | null = null;

  const work = async () => {
    while (waiting !== "") {
      const text = waiting;
      waiting = "";
      await writeWhole(fd, text);
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

async function writeWhole(fd: number, text: string): Promise<void> {
  const bytes = new TextEncoder().encode(text);
  for (let offset = 0; offset < bytes.length; ) offset += await writeSome(fd, bytes.subarray(offset));
}

/** How many bytes are done with. */
function writeSome(fd: number, bytes: Uint8Array): Promise<number> {
  return new Promise((resolve) => {
    // Not `writeSync`: it would wait for the reader, and everything else with it.
    write(fd, bytes, 0, bytes.length, null, (error, written) => {
      if (error === null) resolve(written);
      else if (error.code === "EAGAIN") setTimeout(() => resolve(0), RETRY_MS);
      else resolve(bytes.length);
    });
  });
}
