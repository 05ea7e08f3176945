import process from "node:process";
import type { ReadStream } from "node:tty";
import { EXIT } from "../framework/exit-status.ts";
import { writeErr } from "../framework/streams/output.ts";
import { EMPTY_LINE, type HiddenLine, typed } from "./hidden-line.ts";

/** The signals that end this process: it gives the terminal back before. */
const ENDING = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;
/** A value is never longer; what comes after is counted as too long, not kept. */
const MAX_BYTES = 256 * 1024;

/**
 * Asks for a line on the terminal of standard input and shows nothing of it; null when it was ended without one
 * (Ctrl-D, or the terminal is gone).
 *
 * Behaviour: the prompt goes to standard error, once nothing is shown any more. The terminal is given back when the
 *            line ends, when this process ends, and before a signal ends or stops it; when it goes on, nothing is shown
 *            again and the prompt comes again. Ctrl-C ends this process as SIGINT does.
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
  let line: HiddenLine;
  try {
    begin();
    line = await typedLine(terminal);
  } finally {
    giveBack();
    stopListening();
  }
  if (line.end === "interrupt") return await endBy("SIGINT");
  return line.end === "line" ? Uint8Array.from(line.bytes) : null;
}

function showTyping(terminal: ReadStream, isShown: boolean): void {
  try {
    terminal.setRawMode(!isShown);
  } catch (error) {
    // A terminal that is gone needs nothing back; but nothing is asked for on one that shows what is typed.
    if (!isShown) throw error;
  }
}

async function typedLine(terminal: ReadStream): Promise<HiddenLine> {
  let line = EMPTY_LINE;
  const { promise, resolve } = Promise.withResolvers<HiddenLine>();
  const onData = (keys: Uint8Array) => {
    line = typed(line, keys);
    if (line.bytes.length > MAX_BYTES) line = { ...line, bytes: line.bytes.slice(0, MAX_BYTES) };
    if (line.end !== null) resolve(line);
  };
  const onEnd = () => resolve({ bytes: [], end: "nothing" });
  terminal.on("data", onData).on("end", onEnd).on("error", onEnd);
  terminal.resume();
  try {
    return await promise;
  } finally {
    terminal.pause();
    terminal.off("data", onData).off("end", onEnd).off("error", onEnd);
  }
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
