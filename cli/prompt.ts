import { Buffer } from "node:buffer";
import process from "node:process";
import type { ReadStream } from "node:tty";
import { EXIT } from "./framework/exit-status.ts";
import { writeErr } from "./framework/streams/output.ts";

/** The signals that end this process: the terminal is given back before. */
const ENDING = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;
/** A value is never longer; what comes after is counted as too long, not kept. */
const MAX_BYTES = 256 * 1024;

const [CTRL_C, CTRL_D, CTRL_U, CTRL_W, CTRL_Z, CTRL_BACKSLASH] = [0x03, 0x04, 0x15, 0x17, 0x1a, 0x1c];
const [BACKSPACE, LINE_FEED, RETURN, DELETE] = [0x08, 0x0a, 0x0d, 0x7f];

/** All of standard input, at most one byte more than `maxBytes`. */
export async function readPiped(maxBytes: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of process.stdin) {
    pieces.push(piece);
    length += piece.length;
    if (length > maxBytes) break;
  }
  return Buffer.concat(pieces).subarray(0, maxBytes + 1);
}

/**
 * Asks for a line on the terminal of standard input and shows nothing of it; null when it was ended without one
 * (Ctrl-D, or the terminal is gone).
 *
 * Behaviour: Backspace takes a character, Ctrl-U and Ctrl-W take all of them. The prompt goes to standard error. The
 *            terminal is given back when the line ends, when this process ends, and before a signal ends or stops it;
 *            when it goes on, nothing is shown again and the prompt comes again. Ctrl-C ends this process as SIGINT
 *            does.
 */
export async function askHidden(prompt: string): Promise<Uint8Array | null> {
  const terminal = process.stdin as ReadStream;
  const begin = () => {
    // First back: after a stop the runtime takes the terminal for what it was, and would change nothing.
    showTyping(terminal, true);
    showTyping(terminal, false);
    writeErr(prompt);
  };
  const giveBack = () => {
    showTyping(terminal, true);
    writeErr("\n");
  };
  const stopListening = onSignals({ begin, giveBack });
  let line: Typed;
  try {
    begin();
    line = await typedLine(terminal);
  } finally {
    giveBack();
    stopListening();
  }
  if (line === "interrupt") return await endBy("SIGINT");
  return line === "nothing" ? null : line;
}

function showTyping(terminal: ReadStream, isShown: boolean): void {
  try {
    terminal.setRawMode(!isShown);
  } catch (error) {
    // A terminal that is gone needs nothing back; but nothing is asked for on one that shows what is typed.
    if (!isShown) throw error;
  }
}

type Typed = Uint8Array | "nothing" | "interrupt";

async function typedLine(terminal: ReadStream): Promise<Typed> {
  const { promise, resolve } = Promise.withResolvers<Typed>();
  const line: number[] = [];
  const onData = (keys: Uint8Array) => {
    for (const [at, key] of keys.entries()) {
      if (key === CTRL_C || key === CTRL_BACKSLASH) return resolve("interrupt");
      if (key === CTRL_D && line.length === 0) return resolve("nothing");
      if (isEnter(key)) return resolve(Uint8Array.from([...line, ...pastedBehind(keys.subarray(at))]));
      edit(line, key);
    }
  };
  const onEnd = () => resolve("nothing");
  terminal.on("data", onData).on("end", onEnd).on("error", onEnd);
  terminal.resume();
  try {
    return await promise;
  } finally {
    terminal.pause();
    terminal.off("data", onData).off("end", onEnd).off("error", onEnd);
  }
}

/** Applies one more key; Ctrl-Z does nothing: a stopped program would leave a terminal that shows nothing. */
function edit(line: number[], key: number): void {
  if (key === CTRL_U || key === CTRL_W) line.length = 0;
  else if (key === BACKSPACE || key === DELETE) {
    // A character of UTF-8 may have several bytes.
    while (line.length > 1 && (line.at(-1)! & 0xc0) === 0x80) line.pop();
    line.pop();
  } else if (key !== CTRL_D && key !== CTRL_Z && line.length < MAX_BYTES) line.push(key);
}

const isEnter = (key: number) => key === RETURN || key === LINE_FEED;

/** What comes in one piece behind Enter belongs to the same paste, and stays with the line: it has more than one. */
function pastedBehind(keys: Uint8Array): Uint8Array {
  return keys.every(isEnter) ? new Uint8Array() : keys;
}

function onSignals({ begin, giveBack }: { begin: () => void; giveBack: () => void }): () => void {
  const end = (signal: NodeJS.Signals) => {
    giveBack();
    stopListening();
    void endBy(signal);
  };
  const stop = () => {
    giveBack();
    process.kill(process.pid, "SIGSTOP");
  };
  const handlers = [
    ...ENDING.map((signal) => [signal, end] as const),
    ["SIGTSTP", stop] as const,
    // After a stop that no process can take note of, too: the shell has set the terminal to what it needs itself.
    ["SIGCONT", begin] as const,
  ];
  const stopListening = () => {
    for (const [signal, handler] of handlers) process.off(signal, handler);
    process.off("exit", giveBack);
  };
  for (const [signal, handler] of handlers) process.on(signal, handler);
  process.on("exit", giveBack);
  return stopListening;
}

/** Ends this process by a signal, as its parent expects; waits because the signal arrives a moment later. */
async function endBy(signal: NodeJS.Signals): Promise<never> {
  process.kill(process.pid, signal);
  return await new Promise(() => setTimeout(() => process.exit(EXIT.failed), 1_000));
}
