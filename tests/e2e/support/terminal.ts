/** Runs a program on a terminal of its own (a pty) and types on it. */
import { until } from "../../support/until.ts";

/** A program on a terminal. */
export type OnTerminal = {
  pid: number;
  /** Everything that the terminal has shown. */
  shown(): string;
  type(text: string): void;
  /** Waits until the terminal has shown `text`, `times` times. */
  sees(text: string, times?: number): Promise<void>;
  kill(signal: NodeJS.Signals): void;
  ended: Promise<{ exitCode: number | null; signal: string | null }>;
};

const LIMIT_MS = 60_000;

/** Starts the program, with nothing in its environment but `env`. */
export function startOnTerminal(
  words: readonly string[],
  { env, cols = 200 }: { env: Record<string, string>; cols?: number },
): OnTerminal {
  let text = "";
  const decoder = new TextDecoder();
  const child = Bun.spawn([...words], {
    env,
    cwd: "/",
    terminal: {
      cols,
      rows: 50,
      data(_terminal, bytes) {
        text += decoder.decode(bytes, { stream: true });
      },
    },
  });
  return {
    pid: child.pid,
    shown: () => text,
    type: (keys) => void child.terminal!.write(keys),
    async sees(wanted, times = 1) {
      await until(
        () => `${wanted}, ${times} times, on the terminal, which shows: ${text}`,
        () => text.split(wanted).length > times,
        LIMIT_MS,
      );
    },
    kill: (signal) => child.kill(signal),
    ended: child.exited.then((exitCode) => ({
      exitCode: child.signalCode === null ? exitCode : null,
      signal: child.signalCode === null ? null : String(child.signalCode),
    })),
  };
}
