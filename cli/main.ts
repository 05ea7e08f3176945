import process from "node:process";
import { OpsError } from "../lib/platform/errors.ts";
import { redact } from "../lib/platform/redact.ts";
import { asksForHelp, strictArguments, usageError } from "./arguments.ts";
import type { Group, LazyLeaf, Leaf } from "./command.ts";
import { EXIT, exitStatusOf } from "./exit-status.ts";
import { renderGroupHelp, renderLeafHelp, usageOf } from "./help.ts";
import { nearest } from "./nearest.ts";
import { writeErr, writeOut } from "./output.ts";
import { root } from "./root.ts";

/** How long what a finished command left open may keep the process alive. */
const LINGER_MS = 2_000;

process.exitCode = await main(process.argv.slice(2));
setTimeout(() => process.exit(), LINGER_MS).unref();

/** Runs the command line and answers the exit status; every failure becomes one message. */
async function main(words: readonly string[]): Promise<number> {
  try {
    return await dispatch("opsctl", root, words);
  } catch (error) {
    if (!(error instanceof OpsError)) throw error;
    writeErr(redact(`opsctl: ${error.message}\n`));
    return exitStatusOf(error.code);
  }
}

/** Finds the command that is meant, and runs that one alone. */
async function dispatch(path: string, group: Group, words: readonly string[]): Promise<number> {
  const [word, ...rest] = words;
  if (word === undefined || word === "--help" || word === "-h") {
    writeOut(renderGroupHelp(path, group));
    return EXIT.ok;
  }
  if (word === "--version" && group === root && rest.length === 0) {
    const { versionLine } = await import("./version.ts");
    writeOut(`${await versionLine()}\n`);
    return EXIT.ok;
  }
  const command = Object.hasOwn(group.commands, word) ? group.commands[word] : undefined;
  if (command === undefined) return misuse(unknownWord(word, group), `${path} <command> [options]`, path);
  const commandPath = `${path} ${word}`;
  return "load" in command
    ? await call(commandPath, command, rest)
    : await dispatch(commandPath, command, rest);
}

async function call(path: string, command: LazyLeaf, words: readonly string[]): Promise<number> {
  const leaf = await command.load();
  if (asksForHelp(words)) {
    writeOut(renderLeafHelp(path, leaf));
    return EXIT.ok;
  }
  const checked = checkedArguments(words, leaf);
  if (checked instanceof OpsError) return misuse(checked, usageOf(path, leaf), path);
  const { runLeaf } = await import("./run-leaf.ts");
  return await runLeaf(path.slice("opsctl ".length), leaf, checked);
}

function checkedArguments(words: readonly string[], leaf: Leaf): string[] | OpsError {
  try {
    return strictArguments(words, leaf);
  } catch (error) {
    if (error instanceof OpsError) return error;
    throw error;
  }
}

function unknownWord(word: string, { commands }: Group): OpsError {
  if (word.startsWith("-")) {
    const near = nearest(word, ["--help", "--version"]);
    return usageError(
      `unknown option ${word.split("=")[0]}${near === undefined ? "" : `; did you mean ${near}?`}`,
    );
  }
  const near = nearest(word, Object.keys(commands));
  return usageError(
    `unknown command ${JSON.stringify(word)}${near === undefined ? "" : `; did you mean ${near}?`}`,
  );
}

function misuse(error: OpsError, usage: string, path: string): number {
  writeErr(redact(`${path}: ${error.message}\nUsage: ${usage}\nRun \`${path} --help\` for more\n`));
  return exitStatusOf(error.code);
}
