import process from "node:process";
import type { Machine } from "./machine.ts";

/**
 * Runs steps on what is opened, one after another, prints what each returns, clears up, and ends this process: with 1
 * after the first step that fails, with 143 when it is interrupted.
 */
export async function runSteps<T extends AsyncDisposable>(
  opening: Promise<T>,
  steps: readonly ((opened: T) => Promise<string>)[],
  machineOf: (opened: T) => Machine,
): Promise<never> {
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= opening.then((opened) => opened[Symbol.asyncDispose]());
    return closing;
  };
  process.on("SIGTERM", () => void close().then(() => process.exit(143)));
  const opened = await opening;
  for (const step of steps) {
    try {
      console.log(`${step.name}: ${(await step(opened)).replaceAll("\n", ", ")}`);
    } catch (error) {
      if (closing === undefined) {
        console.log(`${step.name} FAILED`, error);
        const journal = ["journalctl", "-b", "-n", "40", "--no-pager", "-o", "short"];
        console.log((await machineOf(opened).run(journal)).output);
      }
      await close();
      console.log(`the step ${step.name} failed`);
      process.exit(1);
    }
  }
  await close();
  console.log(`all ${steps.length} steps passed`);
  process.exit(0);
}
