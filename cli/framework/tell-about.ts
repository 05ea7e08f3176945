import { jsonText } from "../../lib/platform/json-text.ts";
import type { AboutParts } from "./command.ts";
import { EXIT, statusWord } from "./exit-status.ts";
import { writeOut } from "./streams/output.ts";
import type { CheckedArguments } from "./usage/arguments.ts";

/**
 * Runs a command that tells of opsctl itself, with checked arguments, prints its result and returns the exit status.
 *
 * Behaviour: neither reads settings nor becomes another account, and loads nothing for it, so that it starts as fast as
 *            `--help`.
 * Errors:    OUTPUT_FAILED, as `writeOut` has it.
 */
export async function tellAbout(
  name: string,
  about: AboutParts<never>["about"],
  { rawArgs, options }: CheckedArguments,
  program: Parameters<AboutParts<never>["about"]>[1],
): Promise<number> {
  const end = rawArgs.indexOf("--");
  const { fields, text } = await about(end === -1 ? [] : rawArgs.slice(end + 1), program);
  const result = { command: name, status: statusWord(EXIT.ok), exitCode: EXIT.ok, ...fields, error: null };
  writeOut(options.has("json") ? `${jsonText(result)}\n` : text);
  return EXIT.ok;
}
