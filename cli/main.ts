import { helpOf, helpWidth, printHelp, usageOf } from "./args/help.ts";
import { EXIT } from "./framework/exit-status.ts";
import { seeChildEnds } from "./framework/see-child-ends.ts";
import { type Found, findEntry } from "./framework/tree.ts";
import { root } from "./root.ts";

/** How long connections that a finished command left open may keep the process alive. */
const LINGER_MS = 2_000;

seeChildEnds();
process.exitCode = await main(process.argv.slice(2));
setTimeout(() => process.exit(), LINGER_MS).unref();

/** Runs the command line and returns the exit status; every failure becomes one message. */
async function main(words: readonly string[]): Promise<number> {
  try {
    return await dispatch(words);
  } catch (error) {
    const { reportFailure } = await import("./framework/failure.ts");
    return await reportFailure(error);
  }
}

/** Finds and runs the command that the words name; what help and version do not need is imported late. */
async function dispatch(words: readonly string[]): Promise<number> {
  if (words[0] === "--version" && words.length === 1) {
    const { versionLine } = await import("./framework/version.ts");
    printHelp(await versionLine());
    return EXIT.ok;
  }
  if (words[0] === "internal" && words[1] === "complete") {
    // Started by the scripts of `opsctl completion`; no help lists it.
    const { printOffers } = await import("./completion/print-offers.ts");
    await printOffers(words.slice(2), new Date());
    return EXIT.ok;
  }
  const found = findEntry(root, words);
  if (asksForHelp(found)) {
    printHelp(await helpOf(root, words));
    return EXIT.ok;
  }
  return await call(found);
}

/** Whether the words are a group alone, or `--help` is among the options. */
function asksForHelp({ entry, rest }: Found): boolean {
  const isHelp = (word: string | undefined) => word === "--help" || word === "-h";
  if (!("load" in entry)) return rest.length === 0 || isHelp(rest[0]);
  const end = rest.indexOf("--");
  return (end === -1 ? rest : rest.slice(0, end)).some(isHelp);
}

/** Checks the words after the command and runs it. */
async function call({ path, entry, rest }: Found): Promise<number> {
  if (!("load" in entry)) {
    const { unknownCommand } = await import("./args/parse.ts");
    throw unknownCommand(rest[0] as string, entry, path);
  }
  if (entry.ignoresHangups) await (await import("./framework/signals.ts")).ignoreHangups();
  const [command, { parseWords, usageError }] = await Promise.all([entry.load(), import("./args/parse.ts")]);
  const parsed = await parseWords(rest, command);
  if ("problem" in parsed)
    throw usageError(parsed.problem, path, usageOf(path, command, await helpWidth("stderr")));
  const name = path.slice("opsctl ".length);
  if (command.answer !== undefined) {
    const answer = await command.answer(parsed.positionals, root);
    const [{ writeOut }, { resultLine }] = await Promise.all([
      import("./framework/streams/output.ts"),
      import("./framework/outcome.ts"),
    ]);
    writeOut(parsed.given.has("json") ? resultLine(name, answer) : answer.text);
    return EXIT.ok;
  }
  const { runCommand } = await import("./framework/run-command.ts");
  return await runCommand(name, command, parsed);
}
