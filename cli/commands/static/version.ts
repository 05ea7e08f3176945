/**
 * `opsctl version`: version and commit, as `opsctl --version`.
 *
 * JSON:   `version`, `commit`: with `+changes` when the sources of the build had changes, `unknown` without a build.
 */
import { JSON_OPTION } from "../../args/options.ts";
import { defineStaticCommand } from "../../framework/command.ts";
import { COMMIT, VERSION, VERSION_LINE } from "../../framework/version.ts";

/** The command; see the head of this file. */
export const version = defineStaticCommand({
  args: { json: JSON_OPTION },
  example: "opsctl version --json",
  answer: async () => ({
    fields: { version: VERSION, commit: COMMIT },
    text: `${VERSION_LINE}\n`,
  }),
});
