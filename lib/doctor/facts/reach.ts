import { connect } from "node:net";

/** Whether a port takes connections: null when it does, else the system's code. Nothing is sent. */
export function connectProblem(host: string, port: number, signal: AbortSignal): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const end = (problem: string | null) => {
      socket.destroy();
      resolve(problem);
    };
    socket.once("connect", () => end(null));
    socket.once("error", ({ code }: NodeJS.ErrnoException) => end(code ?? "unknown error"));
    signal.addEventListener("abort", () => end("ABORTED"), { once: true });
  });
}
