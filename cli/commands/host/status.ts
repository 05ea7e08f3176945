import process from "node:process";
import type { CollectorPlace } from "../../../lib/status/run.ts";
import { defineCommand } from "../../framework/command.ts";
import { EXIT } from "../../framework/exit-status.ts";
import { isTerminal } from "../../output.ts";

const STDOUT = 1;
/** What still hangs by then must not keep the process beyond two seconds. */
const LINGER_MS = 100;

/** `opsctl status`: every part of opsctl on this host in a line or two, with the command that comes next. */
export const status = defineCommand({
  notes:
    "Ends with 1 when a part that is set up needs a person. Changes nothing.\n" +
    "Each part has one second.\n" +
    "The alert rules are as the last `alert-rules plan` or `apply` found them.",
  // Where the collector writes is named in a file of root's.
  async readAsRoot(env) {
    const { findCollector } = await import("../../../lib/status/run.ts");
    return findCollector(env);
  },
  args: {},
  example: "opsctl status",

  async run(_args, { env, fromRoot }) {
    const { openStatusDependencies } = await import("../../wiring/host/status.ts");
    const { isAllWell, readStatus } = await import("../../../lib/status/run.ts");
    const { renderStatus } = await import("../../../lib/status/render.ts");
    const parts = await readStatus(openStatusDependencies(env, fromRoot as CollectorPlace | null));
    const onTerminal = process.env.TERM !== "dumb" && isTerminal(STDOUT);
    setTimeout(() => process.exit(), LINGER_MS).unref();
    return {
      exitCode: isAllWell(parts) ? EXIT.ok : EXIT.failed,
      fields: { parts },
      text: (screen) => renderStatus(parts, { ...screen, isTerminal: onTerminal, env }),
    };
  },
});
