import { describe, expect, test } from "bun:test";
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { readChild } from "../../lib/platform/read-child.ts";
import { until } from "../support/until.ts";

const LONG_MS = 60_000;

function shell(script: string): ChildProcess {
  return spawn("/bin/sh", ["-c", script], { stdio: ["ignore", "pipe", "pipe"], detached: true });
}

/** Whether a process runs: one that has ended and was not waited for does not. */
function runs(pid: number): boolean {
  return existsSync(`/proc/${pid}`) && !/\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
}

describe("readChild()", () => {
  test("has all that a child says, and how it ended", async () => {
    const child = shell("echo out; echo err >&2; exit 3");
    const { end, stdout, stderr } = await readChild(child, { limitMs: LONG_MS, maxBytes: 4 });
    expect(end).toEqual({ status: "ended", exitCode: 3, signal: null });
    expect([stdout.toString(), stderr.toString()]).toEqual(["out\n", "err\n"]);
  });

  test("has the signal that ended it", async () => {
    const { end } = await readChild(shell("kill -9 $$"), { limitMs: LONG_MS, maxBytes: 1 });
    expect(end).toEqual({ status: "ended", exitCode: null, signal: "SIGKILL" });
  });

  test("says that there is no such program", async () => {
    const child = spawn("/nowhere/program", { detached: true });
    const { end } = await readChild(child, { limitMs: LONG_MS, maxBytes: 1 });
    expect(end).toEqual({ status: "unstarted", code: "ENOENT" });
  });

  test("kills one that is late with what it started, and has what came in time", async () => {
    const child = shell("sleep 3600 & echo $!; wait");
    const { end, stdout } = await readChild(child, { beginMs: LONG_MS, limitMs: 1, maxBytes: 100 });
    expect(end).toEqual({ status: "late" });
    const pids = [child.pid as number, Number(stdout.toString())];
    await until("the end of both", () => !pids.some(runs));
  });

  test("counts its limit from the start where the beginning has none", async () => {
    const { end } = await readChild(shell("exec sleep 3600"), { limitMs: 1, maxBytes: 1 });
    expect(end).toEqual({ status: "late" });
  });

  test("gives a child its time to begin, and no more", async () => {
    const limits = { beginMs: 1, limitMs: LONG_MS, maxBytes: 1 };
    expect((await readChild(shell("exec sleep 3600"), limits)).end).toEqual({ status: "late" });
  });

  test.each(["", ">&2"])("takes no more than its bytes of a child that floods: echo %s", async (where) => {
    const child = shell(`while :; do echo 0123456789 ${where}; done`);
    const { end, stdout, stderr } = await readChild(child, { limitMs: LONG_MS, maxBytes: 100 });
    expect(end).toEqual({ status: "flooded" });
    expect(stdout.length + stderr.length).toBeLessThanOrEqual(100);
    await until("its end", () => !runs(child.pid as number));
  });

  test("reads no further when its reader has all, also where another process holds the output", async () => {
    const child = shell("echo all; exec sleep 3600");
    const isComplete = (piece: Buffer) => piece.includes(10);
    const { end, stdout } = await readChild(child, { limitMs: LONG_MS, maxBytes: 100, isComplete });
    expect([end, stdout.toString()]).toEqual([{ status: "complete" }, "all\n"]);
    await until("its end", () => !runs(child.pid as number));
  });
});
