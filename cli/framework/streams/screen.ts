import type { Environment } from "../../../lib/platform/secrets/adapter.ts";
import type { Screen } from "../../../lib/text/terminal/screen.ts";

const STDOUT = 1;

/** Standard output, as the texts of a command need it; what it takes is imported late, for a quick `--help`. */
export async function standardScreen(env: Environment): Promise<Screen> {
  const [{ isTerminal }, { terminalWidth }, { redact }, { withoutControls }] = await Promise.all([
    import("./output.ts"),
    import("./terminal-width.ts"),
    import("../../../lib/platform/secrets/redact.ts"),
    import("../../../lib/platform/replace-unseen.ts"),
  ]);
  const [width, isOnTerminal] = await Promise.all([terminalWidth(env), isTerminal(STDOUT)]);
  const clean = (text: string) => withoutControls(redact(text)).replaceAll("\n", " ");
  return { width, colour: isOnTerminal && wantsColour(env), clean };
}

/**
 * Whether a terminal gets colours: not with `NO_COLOR`, whatever its value but an empty one, and not with `TERM=dumb`.
 *
 * Source: no-color.org.
 */
export function wantsColour({ NO_COLOR = "", TERM }: Environment): boolean {
  return NO_COLOR === "" && TERM !== "dumb";
}
