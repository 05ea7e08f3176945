import { afterEach, expect, test } from "bun:test";
import { seeChildEnds } from "../../../cli/child-process/see-child-ends.ts";

const before = process.listeners("SIGCHLD");
afterEach(() => {
  for (const listener of process.listeners("SIGCHLD"))
    if (!before.includes(listener)) process.off("SIGCHLD", listener);
});

test.each([
  ["ignores SIGCHLD", "SigIgn:\t0000000000010000\n", 1],
  ["ignores SIGCHLD among others", "SigBlk:\t0000000000000000\nSigIgn:\t0000000001011000\n", 1],
  ["ignores its neighbours", "SigIgn:\t0000000000028000\n", 0],
  ["only blocks it", "SigBlk:\t0000000000010000\nSigIgn:\t0000000000000000\n", 0],
  ["does not say it", "", 0],
])("seeChildEnds() of a process that %s", (_what, status, added) => {
  seeChildEnds(status);
  expect(process.listenerCount("SIGCHLD") - before.length).toBe(added);
});
