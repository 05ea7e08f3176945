import { jsonText } from "../../lib/platform/json-text.ts";
import type { Screen } from "../../lib/text/terminal/screen.ts";
import { EXIT, statusWord } from "./exit-status.ts";

/**
 * How a command ended.
 *
 * Shape: `fields` are the command's own keys of `--json`, `text` is what people read, made only when it is shown.
 *        Without `exitCode` all is well.
 */
export type Outcome = {
  exitCode?: number;
  fields: object;
  error?: { code: string; message: string; hint?: string | undefined } | null;
  text: string | ((screen: Screen) => string);
};

/** The line of `--json`: `command`, `status` and `exitCode`, the command's own fields, then `error`. */
export function resultLine(
  command: string,
  { exitCode = EXIT.ok, fields, error = null }: Outcome,
  clean: (result: object) => unknown = (result) => result,
): string {
  const result = { command, status: statusWord(exitCode), exitCode, ...fields, error };
  return `${jsonText(clean(result))}\n`;
}
