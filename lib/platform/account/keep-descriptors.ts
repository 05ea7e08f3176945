import { readdirSync, readFileSync } from "node:fs";
import { OpsError } from "../errors.ts";
import { keepDescriptorCall, runtimeName } from "../runtime.ts";

const FOLDER = "/proc/self";
const STDERR = 2;
const CLOSED_ON_EXEC = 0o2000000;

/**
 * Keeps what a process that is root has open, but the standard streams, from a program that it starts as an account.
 *
 * Behaviour: root's shell may have left open a file that the account may not read. Does nothing on Bun, which closes
 *            such descriptors itself.
 * Errors:    ACCOUNT_UNAVAILABLE where there is such a descriptor and Deno may not make the system's call.
 * Source:    proc(5), fdinfo; open(2), O_CLOEXEC.
 */
export function keepDescriptors(): void {
  if (runtimeName() !== "deno") return;
  const passedOn = descriptors().filter(isPassedOn);
  if (passedOn.length === 0) return;
  const keep = keepDescriptorCall();
  const open = passedOn.find((fd) => keep === null || !keep(fd));
  if (open !== undefined) throw staysOpen(open);
}

function descriptors(): number[] {
  const numbers = readdirSync(`${FOLDER}/fd`).map(Number);
  return numbers.filter((fd) => fd > STDERR);
}

function isPassedOn(fd: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`${FOLDER}/fdinfo/${fd}`, "utf8"))?.[1];
    return flags === undefined || (Number.parseInt(flags, 8) & CLOSED_ON_EXEC) === 0;
  } catch {
    // It was closed meanwhile, as the one is with which the folder was read.
    return false;
  }
}

function staysOpen(fd: number): OpsError {
  return new OpsError({
    code: "ACCOUNT_UNAVAILABLE",
    message: `Cannot start a program as an account: descriptor ${fd}, which this process was given, would reach it`,
    hint: `Start opsctl without it, or let Deno make the system's calls (--allow-ffi, --allow-all)`,
  });
}
