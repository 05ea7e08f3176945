/**
 * `opsctl completion <shell>`: the script that completes opsctl's commands, options and values in a shell.
 *
 * Reads:  nothing: the scripts are in the program.
 * Writes: nothing.
 * Calls:  nothing.
 * Env:    none.
 * Exits:  0 done, 2 usage.
 */
import bash from "../../completion/scripts/opsctl.bash" with { type: "text" };
import fish from "../../completion/scripts/opsctl.fish" with { type: "text" };
import zsh from "../../completion/scripts/opsctl.zsh" with { type: "text" };
import { defineAbout } from "../../framework/command.ts";

const SCRIPTS: Readonly<Record<string, string>> = { bash, zsh, fish };
const SHELLS = Object.keys(SCRIPTS);

/** The command; see the head of this file. */
export const completion = defineAbout({
  meta: { name: "completion", description: "Print the completion for bash, zsh or fish" },
  notes:
    "make install and the package put these scripts where the shells look for them.\n" +
    "Elsewhere: `source <(opsctl completion bash)` in ~/.bashrc, the same with zsh in ~/.zshrc.\n" +
    "For fish: `opsctl completion fish | source` in ~/.config/fish/config.fish.",
  args: { shell: { type: "positional", required: true, description: `One of ${SHELLS.join(", ")}` } },
  values: { shell: SHELLS },
  example: "opsctl completion bash",

  about: async ([shell = ""]) => ({ fields: {}, text: SCRIPTS[shell] as string }),
});
