import { processControl } from "../../lib/platform/runtime.ts";
import { hasCapability } from "./guard-capability.ts";

const PR_SET_DUMPABLE = 4;
const PR_CAP_AMBIENT = 47;
const PR_CAP_AMBIENT_CLEAR_ALL = 4;

/**
 * Closes this process to every other one but root's: its memory, its environment, what it has open. Returns whether it
 * was closed to them before, too, from its beginning.
 *
 * Behaviour: leaves no core file. Until here the capability that root passed on has kept the others out; what this
 *            process starts does not get it, because the account may have chosen that program.
 * Source:    prctl(2), PR_SET_DUMPABLE and PR_CAP_AMBIENT; core(5).
 */
export function closeMemory(): boolean {
  const wasClosed = hasCapability();
  const control = processControl();
  if (control === null) return false;
  const isClosed = control(PR_SET_DUMPABLE, 0) === 0;
  const isLast = control(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL) === 0;
  return wasClosed && isClosed && isLast;
}
