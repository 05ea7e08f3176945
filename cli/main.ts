import { INTERNAL } from "./child-process/internal-word.ts";
import { seeChildEnds } from "./child-process/see-child-ends.ts";
import type { Group } from "./framework/command.ts";
import { EXIT } from "./framework/exit-status.ts";
import { printHelp, renderGroupHelp } from "./framework/usage/help.ts";
import { helpWidth } from "./framework/usage/help-width.ts";
import { root } from "./root.ts";

/** How long connections that a finished command left open may keep the process alive. */
const LINGER_MS = 2_000;

seeChildEnds();
process.exitCode = await main(process.argv.slice(2));
setTimeout(() => process.exit(), LINGER_MS).unref();

/** Runs the command line and returns the exit status; every failure becomes one message. */
async function main(words: readonly string[]): Promise<number> {
  try {
    return await dispatch("opsctl", root, words);
  } catch (error) {
    const { reportFailure } = await import("./framework/usage/misuse.ts");
    return await reportFailure(error);
  }
}

/** Finds and runs the command that the words name; what help and version do not need is imported late. */
async function dispatch(path: string, group: Group, words: readonly string[]): Promise<number> {
  const [word, ...rest] = words;
  if (word === undefined || word === "--help" || word === "-h") {
    printHelp(renderGroupHelp(path, group, await helpWidth(process.env)));
    return EXIT.ok;
  }
  if (word === "--version" && group === root && rest.length === 0) {
    const { versionLine } = await import("./framework/version.ts");
    printHelp(`${await versionLine()}\n`);
    return EXIT.ok;
  }
  if (word === INTERNAL && group === root) {
    const { runInternal } = await import("./child-process/run-internal.ts");
    return await runInternal(rest);
  }
  const entry = Object.hasOwn(group.commands, word) ? group.commands[word] : undefined;
  if (entry === undefined) {
    const [{ unknownWord }, { maskedWords }] = await Promise.all([
      import("./framework/usage/misuse.ts"),
      import("./framework/usage/masked-words.ts"),
    ]);
    throw unknownWord(maskedWords([word], process.env)[0]!, group, path);
  }
  if (!("load" in entry)) return await dispatch(`${path} ${word}`, entry, rest);
  if (entry.outlivesHangups) await (await import("./framework/hangups.ts")).keepHangups();
  const [command, { callCommand }] = await Promise.all([entry.load(), import("./framework/call-command.ts")]);
  return await callCommand(`${path} ${word}`, command, rest, root);
}
