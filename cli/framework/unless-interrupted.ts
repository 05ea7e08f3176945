import { OpsError } from "../../lib/platform/errors.ts";

/**
 * What `work` comes to, or the failure `interruption` at once when `interrupt` is aborted before it has.
 *
 * Shape:  for what a command does before it has written anything: the work is left alone, and whatever it comes to
 *         then is not looked at.
 * Errors: those of `work`, and `interruption`.
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
