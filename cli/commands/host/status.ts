/**
 * `opsctl status`: every part of opsctl on this host in a line or two, with the command that comes next.
 *
 * JSON:   `parts`, each `part` (weekly, webhook, collector, socket-monitor, alert-rules), `status` (ok; attention: needs
 *         a person; unknown: this account may not look; outdated: was well, not checked lately; not_set_up), `lines`
 *         (the text), `next` (the command that comes next, or null), `facts` (null where nothing is known):
 *         weekly:         `week`, `clean`, `open`, `owners`, `retryableUntil`, `lastRun` (as in `reports status`);
 *                         without the ledger `clean` and `owners` are null, `open` counts deliveries
 *         webhook:        `isReady`, `isLeading`, `gatewayOpen`, `pendingMessages`, `outbox` (`queued`,
 *                         `oldestSeconds`, `givenUp`, `inDoubt`; null when it could not be counted), `holds` (each
 *                         `kind`, `code`)
 *         collector:      `ageSeconds`, `failing` (the sources that it could not read)
 *         socket-monitor: `ageSeconds`, `total` (null: could not be counted)
 *         alert-rules:    `command` (plan, apply), `at`, `withExtras`, `rules`, `differ`
 */
import process from "node:process";
import type { CollectorPlace } from "../../../lib/status/collector-place.ts";
import { defineCommand } from "../../framework/command.ts";
import { EXIT } from "../../framework/exit-status.ts";
import { isTerminal } from "../../output.ts";

const STDOUT = 1;
/** What still hangs by then must not keep the process beyond two seconds. */
const LINGER_MS = 100;

/** The command; see the head of this file. */
export const status = defineCommand({
  notes:
    "Ends with 1 when a part that is set up needs a person. Changes nothing.\n" +
    "Each part has one second, and more while this command itself waits for a processor.\n" +
    "The alert rules are as the last `alert-rules plan` or `apply` found them.",
  // Where the collector writes is named in a file of root's.
  async readAsRoot(env) {
    const { findCollector } = await import("../../../lib/status/collector-place.ts");
    return await findCollector(env);
  },
  args: {},
  example: "opsctl status",

  async run(_args, { env, fromRoot }) {
    const { openStatusDependencies } = await import("../../wiring/host/status.ts");
    const { isAllWell, readStatus } = await import("../../../lib/status/run.ts");
    const { renderStatus } = await import("../../../lib/status/render.ts");
    const parts = await readStatus(await openStatusDependencies(env, fromRoot as CollectorPlace | null));
    const onTerminal = process.env.TERM !== "dumb" && (await isTerminal(STDOUT));
    setTimeout(() => process.exit(), LINGER_MS).unref();
    return {
      exitCode: isAllWell(parts) ? EXIT.ok : EXIT.failed,
      fields: { parts },
      text: (screen) => renderStatus(parts, { ...screen, isTerminal: onTerminal, env }),
    };
  },
});
