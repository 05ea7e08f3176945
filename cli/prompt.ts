import { Buffer } from "node:buffer";
import process from "node:process";
import type { ReadStream } from "node:tty";
import { EXIT } from "./framework/exit-status.ts";
import { writeErr } from "./output.ts";

const ENDING = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;

/** All of standard input, at most one byte more than `maxBytes`. */
export async function readPiped(maxBytes: number): Promise<Uint8Array> {
  let all = Buffer.alloc(0);
  for await (const piece of process.stdin) {
    all = Buffer.concat([all, piece]);
    if (all.length > maxBytes) break;
  }
  return all.subarray(0, maxBytes + 1);
}

/**
 * Asks for a line on the terminal of standard input without showing it; null when it was ended without one (Ctrl-D, or
 * the terminal is gone). The terminal is given back however it ends; Ctrl-C ends this process as SIGINT does.
 */
export async function askHidden(prompt: string): Promise<Uint8Array | null> {
  const terminal = process.stdin as ReadStream;
  const giveBack = () => {
    for (const name of ENDING) process.off(name, end);
    process.off("exit", giveBack);
    try {
      terminal.setRawMode(false);
    } catch {} // The terminal is gone.
    writeErr("\n");
  };
  const end = (signal: NodeJS.Signals) => {
    giveBack();
    process.kill(process.pid, signal);
    setTimeout(() => process.exit(EXIT.failed), 1_000);
  };
  for (const name of ENDING) process.on(name, end);
  process.on("exit", giveBack);
  terminal.setRawMode(true).setEncoding("utf8");
  writeErr(prompt);
  const line = await typedLine(terminal);
  giveBack();
  return line === null ? null : Buffer.from(line);
}

async function typedLine(terminal: ReadStream): Promise<string | null> {
  const { promise, resolve } = Promise.withResolvers<string | null>();
  let line = "";
  const onEnd = () => resolve(null);
  const onKeys = (keys: string) => {
    for (const key of keys) {
      if (key === "\u0003") process.kill(process.pid, "SIGINT");
      else if (key === "\u0004") resolve(null);
      else if (key === "\r" || key === "\n") {
        // Lines that were pasted with this one stay with it, for the check of its form.
        const pasted = keys.slice(keys.search(/[\r\n]/));
        return resolve(line + (pasted.trim() === "" ? "" : pasted));
      } else if (key === "\b" || key === "\u007f") line = line.replace(/.$/su, "");
      else if (key === "\u0015") line = "";
      // Ctrl-Z would leave a shell whose terminal shows nothing.
      else if (key !== "\u001a") line += key;
    }
  };
  terminal.on("data", onKeys).on("end", onEnd).on("error", onEnd).resume();
  const typed = await promise;
  terminal.pause().off("data", onKeys).off("end", onEnd).off("error", onEnd);
  return typed;
}
