import { asAccount, findAccount, SAFE_PATH } from "../platform/account/account.ts";
import { keepDescriptors } from "../platform/account/keep-descriptors.ts";
import { OpsError } from "../platform/errors.ts";
import { startProgram } from "../platform/start-program.ts";
import { childFailure } from "./child-failure.ts";
import type { ReadAs } from "./sources/last-run.ts";

/** How the child that reads is started: with `command`, and the file's path after it. */
export type OwnerReader = { command: readonly string[]; env: Record<string, string> };

/**
 * Reads a text of at most `maxBytes` as another account, for a process that is root.
 *
 * Behaviour: a child that has become that account for good opens the file: a link of the account leads it only to what
 *            the account itself may read. It gets none of this process's variables. What it prints is limited, because
 *            every process of that account could take it over; it is killed when `signal` is aborted.
 * Errors:    an error whose code is that of the file system in the child, or says how the child ended.
 */
export function readAsOwner({ command, env }: OwnerReader, maxBytes: number): ReadAs {
  return async (uid, path, signal) => {
    keepDescriptors();
    const [program = "", ...args] = asAccount(findAccount(uid), [...command, path]);
    const child = await startProgram(program, args, { PATH: SAFE_PATH, ...env }, "/");
    const stop = () => child.kill();
    signal.addEventListener("abort", stop, { once: true });
    try {
      if (signal.aborted) stop();
      const text = await boundedText(child.output, maxBytes);
      if (text === null) throw refusal("EFBIG");
      const status = await child.ended;
      if (status !== 0) throw refusal(childFailure(text) ?? `the child ended with ${status ?? "a signal"}`);
      return text;
    } finally {
      signal.removeEventListener("abort", stop);
      stop();
    }
  };
}

/** All of a child's output as text; null when it is longer. */
async function boundedText(output: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string | null> {
  const decoder = new TextDecoder();
  let text = "";
  let length = 0;
  for await (const piece of output) {
    length += piece.length;
    if (length > maxBytes) return null;
    text += decoder.decode(piece, { stream: true });
  }
  return text + decoder.decode();
}

function refusal(code: string): OpsError {
  return new OpsError({ code, message: "Cannot read a file as the account that it belongs to" });
}
