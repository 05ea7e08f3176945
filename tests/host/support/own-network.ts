import { dlopen, FFIType } from "bun:ffi";
import { afterAll, beforeAll } from "bun:test";
import { spawnSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";

const CLONE_NEWNET = 0x4000_0000;

/**
 * Gives these tests, and the processes that they start, a network of their own: without the sockets of others.
 *
 * Behaviour: where that is not allowed, as to any account but root, they share the machine's network. What another
 *            thread than the main one opens, as `fetch` does, is in the machine's network in any case.
 */
export function useOwnNetwork(): void {
  let machine: number | undefined;
  beforeAll(() => {
    const before = openSync("/proc/self/ns/net", "r");
    if (callLibc(({ unshare }) => unshare(CLONE_NEWNET)) !== 0) return closeSync(before);
    machine = before;
    const { status, stderr } = spawnSync("ip", ["link", "set", "lo", "up"], { encoding: "utf8" });
    if (status !== 0) throw new Error(`Cannot set up loopback in the tests' own network: ${stderr}`);
  });
  afterAll(() => {
    if (machine === undefined) return;
    const entered = machine;
    if (callLibc(({ setns }) => setns(entered, CLONE_NEWNET)) !== 0)
      throw new Error("Cannot return to the machine's network");
    closeSync(entered);
  });
}

type Libc = { unshare(flags: number): number; setns(fd: number, kind: number): number };

function callLibc(call: (libc: Libc) => number): number {
  const { i32 } = FFIType;
  const libc = dlopen("libc.so.6", {
    unshare: { args: [i32], returns: i32 },
    setns: { args: [i32, i32], returns: i32 },
  });
  try {
    return call(libc.symbols);
  } finally {
    libc.close();
  }
}
