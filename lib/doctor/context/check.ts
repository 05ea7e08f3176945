import type { CommandName, Verdict } from "../finding.ts";
import type { CheckContext } from "./check-context.ts";

/**
 * One thing that a command needs.
 *
 * Shape:     `isOfHost` where it looks at the account, units and files of root's alone: a doctor that root started looks
 *            itself, and takes nobody's word for what such a file has to say.
 * Behaviour: `run` only reads and may return several verdicts; `signal` is aborted when its time has run out.
 */
export type Check = {
  command: CommandName;
  name: string;
  isOfHost?: true;
  run(context: CheckContext, signal: AbortSignal): Promise<Verdict[]>;
};
