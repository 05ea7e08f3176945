import { OpsError } from "../../lib/platform/errors.ts";

/**
 * The result of `work`; when `interrupt` is aborted first, throws `interruption` at once.
 *
 * Behaviour: the work goes on and its result is ignored, so this is for what a command does before it has written
 *            anything.
 * Errors:    those of `work`, and `interruption`.
 */
export async function unlessInterrupted<T>(
  interrupt: AbortSignal,
  interruption: { code: string; message: string; hint?: string },
  work: Promise<T>,
): Promise<T> {
  let stop = () => {};
  try {
    return await new Promise<T>((resolve, reject) => {
      stop = () => reject(new OpsError(interruption));
      work.then(resolve, reject);
      if (interrupt.aborted) stop();
      else interrupt.addEventListener("abort", stop);
    });
  } finally {
    interrupt.removeEventListener("abort", stop);
  }
}
