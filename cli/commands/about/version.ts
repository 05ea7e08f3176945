/**
 * `opsctl version`: version and commit, as `opsctl --version`.
 *
 * Reads:  the commit of the checkout, when the sources run.
 * Writes: nothing.
 * Calls:  nothing.
 * Env:    none.
 * Exits:  0 done, 2 usage.
 *
 * JSON:   `command`, `status`, `exitCode`, `error`, `version`, `commit`: with `+changes` when the sources of the build
 *         had changes, `unknown` without a checkout.
 */
import { defineAbout } from "../../framework/command.ts";
import { commit, VERSION, versionLine } from "../../framework/version.ts";

/** The command; see the head of this file. */
export const version = defineAbout({
  meta: { name: "version", description: "Show version and commit" },
  args: { json: { type: "boolean", description: "Print the result as one line of JSON" } },
  example: "opsctl version --json",

  about: async () => ({
    fields: { version: VERSION, commit: await commit() },
    text: `${await versionLine()}\n`,
  }),
});
