import process from "node:process";
import { helpOf, printHelp } from "./args/help.ts";
import { type Found, findEntry } from "./framework/command.ts";
import { EXIT } from "./framework/exit-status.ts";
import { VERSION_LINE } from "./framework/version.ts";
import { root } from "./root.ts";

/** How long connections that a finished command left open may keep the process alive. */
const LINGER_MS = 2_000;

process.exitCode = await dispatch(process.argv.slice(2)).catch(async (error) => {
  const { reportFailure } = await import("./framework/failure.ts");
  return await reportFailure(error);
});
setTimeout(() => process.exit(), LINGER_MS).unref();

/** Finds and runs the command that the words name; what help and version do not need is imported late. */
async function dispatch(words: readonly string[]): Promise<number> {
  const found = findEntry(root, words);
  if (words[0] === "--version" && words.length === 1) printHelp(VERSION_LINE);
  else if (words[0] === "internal" && words[1] === "complete") {
    // Started by the scripts of `opsctl completion`; no help lists it.
    const { printOffers } = await import("./completion/complete.ts");
    await printOffers(words.slice(2), root);
  } else if (asksForHelp(found)) printHelp(await helpOf(root, words));
  else return await call(found);
  return EXIT.ok;
}

/** Whether the words are a group alone, or `--help` is among the options. */
function asksForHelp({ entry, rest }: Found): boolean {
  const isHelp = (word: string | undefined) => word === "--help" || word === "-h";
  if (!("load" in entry)) return rest.length === 0 || isHelp(rest[0]);
  const end = rest.indexOf("--");
  return (end === -1 ? rest : rest.slice(0, end)).some(isHelp);
}

/** Checks the words after the command and runs it. */
async function call(found: Found): Promise<number> {
  const { parseWords, usageError } = await import("./args/parse.ts");
  if (!("load" in found.entry)) throw await usageError(found);
  const command = await found.entry.load();
  const parsed = await parseWords(found.rest, command);
  if ("problem" in parsed) throw await usageError(found, parsed.problem);
  const name = found.path.slice("opsctl ".length);
  if (command.answer === undefined) {
    const { runCommand } = await import("./framework/run-command.ts");
    return await runCommand(name, command, parsed);
  }
  const answer = await command.answer(parsed.positionals, root);
  const { resultLine, writeOut } = await import("./output.ts");
  writeOut(parsed.given.has("json") ? resultLine(name, answer) : answer.text);
  return EXIT.ok;
}
