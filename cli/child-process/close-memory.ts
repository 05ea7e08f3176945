import { processControl } from "../../lib/platform/runtime.ts";
import { hasCapability } from "./guard-capability.ts";

const PR_SET_DUMPABLE = 4;
const PR_CAP_AMBIENT = 47;
const PR_CAP_AMBIENT_CLEAR_ALL = 4;

/**
 * Keeps the other processes of this account from reading the memory, the environment and the open files of this one.
 * Root can read them all the same.
 *
 * Shape:     true when no other process can have read them at any time, also before this call.
 * Behaviour: until this call the process is protected by a capability that root gave it (see `guardCapability`). This
 *            call protects it in a way that stays, so that it leaves no core file either, and gives the capability to
 *            no program that it starts: the account may have chosen that program.
 * Source:    prctl(2), PR_SET_DUMPABLE and PR_CAP_AMBIENT; core(5).
 */
export function closeMemory(): boolean {
  const wasProtected = hasCapability();
  const control = processControl();
  if (control === null) return false;
  const isProtected = control(PR_SET_DUMPABLE, 0) === 0;
  const isNotPassedOn = control(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL) === 0;
  return wasProtected && isProtected && isNotPassedOn;
}
