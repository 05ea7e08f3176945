/** The run of `make peers` itself, with files that end as peers do. */
import { afterAll, describe, expect, test } from "bun:test";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { until } from "../support/until.ts";
import { runPeer } from "./run-peer.ts";

const folder = mkdtempSync(join(tmpdir(), "opsctl-peers-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A copy of the runner among files of these texts. */
function arrange(name: string, files: Record<string, string>): string {
  const place = mkdtempSync(join(folder, `${name}-`));
  for (const file of ["peers.ts", "run-peer.ts"]) cpSync(join(import.meta.dirname, file), join(place, file));
  for (const [peer, text] of Object.entries(files)) writeFileSync(join(place, `${peer}.peer.ts`), text);
  return place;
}

function runAll(
  place: string,
  ...words: string[]
): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [join(place, "peers.ts"), ...words], { encoding: "utf8" });
}

const SAYS = (line: string, status: number) =>
  `console.log(${JSON.stringify(line)}); process.exit(${status});`;

describe("make peers", () => {
  test("prints what each peer said, what was not tried and why, and ends with 0", () => {
    const place = arrange("fine", {
      engine: SAYS("Docker 26.1.5 said 200", 0),
      host: SAYS("needs root", 77),
    });
    const { status, stdout } = runAll(place);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^engine\n {2}Docker 26\.1\.5 said 200$/m);
    expect(stdout).toMatch(/^Summary: 1 held, 0 failed, 1 not tried, \d+ s$/m);
    expect(stdout).toMatch(/^ {2}host +not tried +\d+ s {2}needs root$/m);
  });

  test("goes on after a failure and ends with 1", () => {
    const place = arrange("failing", {
      a: "throw new Error('the engine refused')",
      b: SAYS("fine", 0),
      c: "process.kill(process.pid, 'SIGKILL')",
    });
    const { status, stdout } = runAll(place);
    expect(status).toBe(1);
    expect(stdout).toContain("the engine refused");
    expect(stdout).toMatch(/^Summary: 1 held, 2 failed, 0 not tried/m);
    expect(stdout).toMatch(/^ {2}a +failed +\d+ s {2}ended with 1$/m);
    expect(stdout).toMatch(/^ {2}c +failed +\d+ s {2}ended by SIGKILL$/m);
  });

  test("counts a peer that was not tried without a reason as failed", () => {
    const { status, stdout } = runAll(arrange("silent", { silent: "process.exit(77)" }));
    expect({ status, reason: /failed +\d+ s {2}(.*)/.exec(stdout)?.[1] }).toEqual({
      status: 1,
      reason: "ended with 77 and did not say why",
    });
  });

  test("runs only those that are named, and knows no others", () => {
    const place = arrange("some", { a: SAYS("a ran", 0), b: SAYS("b ran", 1) });
    expect(runAll(place, "a")).toMatchObject({ status: 0, stdout: expect.not.stringContaining("b ran") });
    expect(runAll(place, "a,z")).toMatchObject({ status: 2, stderr: "No such peer: z; there are a, b\n" });
    expect(runAll(arrange("none", {})).status).toBe(2);
  });

  // A terminal interrupts every process of its group, and hangs up on them.
  test.each([
    ["SIGTERM", "the run alone", 143],
    ["SIGINT", "its whole group", 130],
    ["SIGHUP", "its whole group", 129],
  ] as const)("asks a running peer to clear up at %s to %s, and starts no other", async (name, whom, end) => {
    const place = arrange("interrupted", {
      a: `process.on("SIGTERM", () => { require("fs").writeFileSync(__dirname + "/cleared", ""); process.exit(1) });
        console.log("a runs"); setInterval(() => {}, 1000);`,
      b: SAYS("b ran", 0),
    });
    const child = spawn(process.execPath, [join(place, "peers.ts")], {
      stdio: ["ignore", "pipe", "inherit"],
      detached: true,
    });
    let output = "";
    child.stdout.on("data", (text) => (output += text));
    await until("the first peer runs", () => output.includes("a runs"));
    process.kill(whom === "the run alone" ? child.pid! : -child.pid!, name);
    const [status] = await once(child, "close");
    expect(status).toBe(end);
    expect(existsSync(join(place, "cleared"))).toBe(true);
    expect(output).not.toContain("b ran");
    expect(output).toMatch(/^Summary: 0 held, 1 failed, 0 not tried, 1 left out: interrupted/m);
  });
});

test("runPeer() ends a peer that does not end by itself, at the last without its help", async () => {
  const place = arrange("endless", {
    deaf: 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)',
  });
  const path = join(place, "deaf.peer.ts");
  const result = await runPeer(path, { print: () => {}, limitMs: 500, graceMs: 100 });
  expect(result).toMatchObject({ name: "deaf", status: "failed", reason: "was not done after 0.5 s" });
});

test("runPeer() does not wait for a process that a peer left behind", async () => {
  const place = arrange("parent", {
    leaver: `const { pid } = require("child_process").spawn("sleep", ["60"], { stdio: "inherit" });
      console.log(pid); process.exit(0);`,
  });
  const lines: string[] = [];
  const print = (line: string) => lines.push(line);
  const result = await runPeer(join(place, "leaver.peer.ts"), { print, limitMs: 60_000, graceMs: 100 });
  expect(result.status).toBe("held");
  // It still runs: otherwise this would have waited for its end.
  expect(process.kill(Number(lines[0]), "SIGKILL")).toBe(true);
});
