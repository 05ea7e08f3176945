import process from "node:process";
import type { Command, Group } from "./command.ts";
import { EXIT } from "./exit-status.ts";
import type { CheckedArguments } from "./usage/arguments.ts";
import { printHelp, renderCommandHelp, usageOf } from "./usage/help.ts";
import { helpWidth } from "./usage/help-width.ts";

/**
 * Prints the help of a command, or checks its arguments and runs it; returns the exit status.
 *
 * Shape:  `program` is the tree of all commands.
 * Errors: USAGE_INVALID, before the command has done anything.
 */
export async function callCommand(
  path: string,
  command: Command,
  words: readonly string[],
  program: Group,
): Promise<number> {
  if (asksForHelp(words)) {
    printHelp(renderCommandHelp(path, command, await helpWidth(process.env)));
    return EXIT.ok;
  }
  const [{ strictArguments }, call] = await Promise.all([
    import("./usage/arguments.ts"),
    callerOf(command, path.slice("opsctl ".length), program),
  ]);
  const checked = strictArguments(words, command);
  if ("problem" in checked) {
    const [{ misuse }, { maskedWords }] = await Promise.all([
      import("./usage/misuse.ts"),
      import("./usage/masked-words.ts"),
    ]);
    // Judged again without secrets: what the problem repeats may be a part of one, which no mask would find.
    const masked = strictArguments(maskedWords(words, process.env), command);
    const { problem } = "problem" in masked ? masked : checked;
    throw misuse(problem, path, usageOf(path, command, await helpWidth(process.env, "stderr")));
  }
  return await call(checked);
}

/** What runs the command with its arguments; a command that tells of opsctl itself needs far less than the others. */
async function callerOf(
  command: Command,
  name: string,
  program: Group,
): Promise<(checked: CheckedArguments) => Promise<number>> {
  const { about } = command;
  if (about === undefined) {
    const { runCommand } = await import("./run-command.ts");
    return (checked) => runCommand(name, command, checked);
  }
  const { tellAbout } = await import("./tell-about.ts");
  return (checked) => tellAbout(name, about, checked, program);
}

/** Whether `--help` or `-h` stands anywhere among the options. */
function asksForHelp(rawArgs: readonly string[]): boolean {
  const end = rawArgs.indexOf("--");
  const options = end === -1 ? rawArgs : rawArgs.slice(0, end);
  return options.includes("--help") || options.includes("-h");
}
