import type { Group } from "./framework/command.ts";
import { EXIT } from "./framework/exit-status.ts";
import { seeChildEnds } from "./framework/see-child-ends.ts";
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
  if (word === "internal" && rest[0] === "complete" && group === root) {
    // Started by the scripts of `opsctl completion`; no help lists it.
    const { printOffers } = await import("./completion/print-offers.ts");
    await printOffers(rest.slice(1), new Date());
    return EXIT.ok;
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
