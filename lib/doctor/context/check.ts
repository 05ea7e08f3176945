import type { CheckResult, CommandName } from "../finding.ts";
import type { CheckContext } from "./check-context.ts";

/**
 * One thing that a command needs.
 *
 * Shape:     `runsAsRoot` where it looks at what only root may read, or what belongs to the host: a doctor that root
 *            started runs it before it becomes the account, and then in a second at most.
 * Behaviour: `run` only reads and may return several results; `signal` is aborted when its time has run out.
 */
export type Check = {
  command: CommandName;
  name: string;
  /** The external service that it asks, in words; without one it reads files of this host, or starts a program. */
  service?: string;
  runsAsRoot?: true;
  run(context: CheckContext, signal: AbortSignal): Promise<CheckResult[]>;
};
