import process from "node:process";
import type { Command } from "./command.ts";
import { EXIT } from "./exit-status.ts";
import { printHelp, renderCommandHelp, usageOf } from "./usage/help.ts";
import { helpWidth } from "./usage/help-width.ts";

/**
 * Prints the help of a command, or checks its arguments and runs it; returns the exit status.
 *
 * Errors: USAGE_INVALID, before the command has done anything.
 */
export async function callCommand(path: string, command: Command, words: readonly string[]): Promise<number> {
  if (asksForHelp(words)) {
    printHelp(renderCommandHelp(path, command, await helpWidth(process.env)));
    return EXIT.ok;
  }
  const [{ strictArguments }, { runCommand }] = await Promise.all([
    import("./usage/arguments.ts"),
    import("./run-command.ts"),
  ]);
  const checked = strictArguments(words, command);
  if ("problem" in checked) {
    const [{ misuse }, { maskedWords }] = await Promise.all([
      import("./usage/misuse.ts"),
      import("./usage/environment-secrets.ts"),
    ]);
    // Judged again without secrets: what the problem repeats may be a part of one, which no mask would find.
    const masked = strictArguments(maskedWords(words, process.env), command);
    const { problem } = "problem" in masked ? masked : checked;
    throw misuse(problem, path, usageOf(path, command));
  }
  return await runCommand(path.slice("opsctl ".length), command, checked);
}

/** Whether `--help` or `-h` stands anywhere among the options. */
function asksForHelp(rawArgs: readonly string[]): boolean {
  const end = rawArgs.indexOf("--");
  const options = end === -1 ? rawArgs : rawArgs.slice(0, end);
  return options.includes("--help") || options.includes("-h");
}
