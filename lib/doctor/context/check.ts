import type { CommandName, Verdict } from "../finding.ts";
import type { CheckContext } from "./check-context.ts";

/**
 * One thing that a command needs.
 *
 * Behaviour: `run` only reads and may return several verdicts; `signal` is aborted when its time has run out.
 */
export type Check = {
  command: CommandName;
  name: string;
  run(context: CheckContext, signal: AbortSignal): Promise<Verdict[]>;
};
