import process from "node:process";
import type { Command, Group } from "./command.ts";
import { EXIT } from "./exit-status.ts";
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
  const [{ strictArguments }, { tellAbout }] = await Promise.all([
    import("./usage/arguments.ts"),
    import("./tell-about.ts"),
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
  const name = path.slice("opsctl ".length);
  if (command.about === undefined) {
    const { runCommand } = await import("./run-command.ts");
    return await runCommand(name, command, checked);
  }
  return await tellAbout(name, command.about, checked, program);
}

/** Whether `--help` or `-h` stands anywhere among the options. */
function asksForHelp(rawArgs: readonly string[]): boolean {
  const end = rawArgs.indexOf("--");
  const options = end === -1 ? rawArgs : rawArgs.slice(0, end);
  return options.includes("--help") || options.includes("-h");
}
