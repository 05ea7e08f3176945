import { asksForHelp, strictArguments } from "./arguments.ts";
import type { Leaf } from "./command.ts";
import { EXIT } from "./exit-status.ts";
import { renderLeafHelp, usageOf } from "./help.ts";
import { misuse } from "./misuse.ts";
import { writeOut } from "./output.ts";

/**
 * Shows the help of a command, or runs it when its arguments are right.
 *
 * Errors: USAGE_INVALID, before the command has done anything.
 */
export async function callLeaf(path: string, leaf: Leaf, words: readonly string[]): Promise<number> {
  if (asksForHelp(words)) {
    writeOut(renderLeafHelp(path, leaf));
    return EXIT.ok;
  }
  const checked = strictArguments(words, leaf);
  if ("problem" in checked) throw misuse(checked.problem, path, usageOf(path, leaf));
  const { runLeaf } = await import("./run-leaf.ts");
  return await runLeaf(path.slice("opsctl ".length), leaf, checked.rawArgs);
}
