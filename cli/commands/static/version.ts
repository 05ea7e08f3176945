import { JSON_OPTION } from "../../args/options.ts";
import type { Command } from "../../framework/command.ts";
import { COMMIT, VERSION, VERSION_LINE } from "../../framework/version.ts";

/** `opsctl version`: version and commit, as `opsctl --version`. */
export const version: Command = {
  args: { json: JSON_OPTION },
  example: "opsctl version --json",
  answer: async () => ({
    fields: { version: VERSION, commit: COMMIT },
    text: `${VERSION_LINE}\n`,
  }),
};
