import { argument } from "../../args/options.ts";
import bash from "../../completion/scripts/opsctl.bash" with { type: "text" };
import fish from "../../completion/scripts/opsctl.fish" with { type: "text" };
import zsh from "../../completion/scripts/opsctl.zsh" with { type: "text" };
import type { Command } from "../../framework/command.ts";

const SCRIPTS: Readonly<Record<string, string>> = { bash, zsh, fish };
const SHELLS = Object.keys(SCRIPTS);

/** `opsctl completion`: the script that completes commands, options and values in a shell. */
export const completion: Command = {
  notes:
    "make install and the package put these scripts where the shells look for them.\n" +
    "Elsewhere: `source <(opsctl completion bash)` in ~/.bashrc, the same with zsh in ~/.zshrc.\n" +
    "For fish: `opsctl completion fish | source` in ~/.config/fish/config.fish.",
  args: { shell: argument(`One of ${SHELLS.join(", ")}`, { required: true, values: SHELLS }) },
  example: "opsctl completion bash",
  answer: async ([shell = ""]) => ({ fields: {}, text: SCRIPTS[shell] as string }),
};
