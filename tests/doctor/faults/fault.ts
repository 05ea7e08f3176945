import type { CommandName, Finding } from "../../../lib/doctor/context.ts";
import type { Need } from "../../support/requires.ts";
import type { Host } from "../support/host.ts";

/** A fault of a host: how it is made on a healthy one, and the one finding that doctor must report. */
export type Fault = {
  /** Command, check, status and code; without a code where nothing is wrong. */
  finds: readonly [CommandName, string, Finding["status"], string | null];
  /** What reason or fix must say where the code alone does not say it; `~` is the host's folder. */
  about?: string;
  needs?: Need[];
  spoil: (host: Host) => unknown;
};

/** Faults by name. */
export type Faults = Readonly<Record<string, Fault>>;
