/**
 * Waits for a condition.
 *
 * Errors: says what was waited for once `limitMs` have passed.
 */
export async function until(
  what: string | (() => string),
  condition: () => boolean | Promise<boolean>,
  limitMs = 300_000,
): Promise<void> {
  const deadlineMs = performance.now() + limitMs;
  while (!(await condition())) {
    if (performance.now() > deadlineMs)
      throw new Error(`Waited ${limitMs} ms in vain: ${typeof what === "string" ? what : what()}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
