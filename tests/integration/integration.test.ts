/** `make integration` itself, with tests that end as integration tests do. */
import { afterAll, describe, expect, test } from "bun:test";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { until } from "../support/until.ts";

const folder = mkdtempSync(join(tmpdir(), "opsctl-integration-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A copy of the runner among files of these texts. */
function arrange(name: string, files: Record<string, string>): string {
  const place = mkdtempSync(join(folder, `${name}-`));
  cpSync(join(import.meta.dirname, "integration.ts"), join(place, "integration.ts"));
  for (const [name, text] of Object.entries(files))
    writeFileSync(join(place, `${name}.integration.ts`), text);
  return place;
}

function runAll(
  place: string,
  ...words: string[]
): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [join(place, "integration.ts"), ...words], { encoding: "utf8" });
}

const SAYS = (line: string, status: number) =>
  `console.log(${JSON.stringify(line)}); process.exit(${status});`;

describe("make integration", () => {
  test("prints the output of each integration test, and the reason of one that was not tried, and ends with 0", () => {
    const place = arrange("fine", {
      engine: SAYS("Docker 26.1.5 said 200", 0),
      host: SAYS("needs root", 77),
    });
    const { status, stdout } = runAll(place);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^engine\n {2}Docker 26\.1\.5 said 200$/m);
    expect(stdout).toMatch(/^Summary: 1 passed, 0 failed, 1 not tried, \d+ s$/m);
    expect(stdout).toMatch(/^ {2}host +not tried +\d+ s {2}needs root$/m);
  });

  test("runs the other integration tests after a failure, and ends with 1", () => {
    const place = arrange("failing", {
      a: "throw new Error('the engine refused')",
      b: SAYS("fine", 0),
      c: "process.kill(process.pid, 'SIGKILL')",
      d: "process.exit(77)",
    });
    const { status, stdout } = runAll(place);
    expect(status).toBe(1);
    expect(stdout).toContain("the engine refused");
    expect(stdout).toMatch(/^Summary: 1 passed, 3 failed, 0 not tried/m);
    expect(stdout).toMatch(/^ {2}a +failed +\d+ s {2}ended with 1$/m);
    expect(stdout).toMatch(/^ {2}c +failed +\d+ s {2}ended by SIGKILL$/m);
    expect(stdout).toMatch(/^ {2}d +failed +\d+ s {2}ended with 77 and did not say why$/m);
  });

  test("runs only the integration tests that ONLY names, and rejects unknown names", () => {
    const place = arrange("some", { a: SAYS("a ran", 0), b: SAYS("b ran", 1) });
    expect(runAll(place, "a")).toMatchObject({ status: 0, stdout: expect.not.stringContaining("b ran") });
    expect(runAll(place, "a,z")).toMatchObject({
      status: 2,
      stderr: "No such integration test: z; there are a, b\n",
    });
    expect(runAll(arrange("none", {})).status).toBe(2);
  });

  // A terminal interrupts every process of its group, and hangs up on them.
  test.each([
    ["SIGTERM", "the run alone", 143],
    ["SIGINT", "its whole group", 130],
    ["SIGHUP", "its whole group", 129],
  ] as const)(
    "at %s to %s asks the running integration test to clear up, and starts no other",
    async (name, target, end) => {
      const place = arrange("interrupted", {
        a: `process.on("SIGTERM", () => { require("fs").writeFileSync(__dirname + "/cleared", ""); process.exit(1) });
        console.log("a runs"); setInterval(() => {}, 1000);`,
        b: SAYS("b ran", 0),
      });
      const child = spawn(process.execPath, [join(place, "integration.ts")], {
        stdio: ["ignore", "pipe", "inherit"],
        detached: true,
      });
      let output = "";
      child.stdout.on("data", (text) => (output += text));
      await until("the first test runs", () => output.includes("a runs"));
      process.kill(target === "the run alone" ? child.pid! : -child.pid!, name);
      const [status] = await once(child, "close");
      expect(status).toBe(end);
      expect(existsSync(join(place, "cleared"))).toBe(true);
      expect(output).not.toContain("b ran");
      expect(output).toMatch(/^Summary: 0 passed, 1 failed, 0 not tried, 1 left out: interrupted/m);
    },
  );
});

test("make integration does not wait for a process that a test left behind", () => {
  const place = arrange("parent", {
    leaver: `const { pid } = require("child_process").spawn("sleep", ["60"], { stdio: "inherit" });
      console.log(pid); process.exit(0);`,
  });
  const { status, stdout } = runAll(place);
  expect(status).toBe(0);
  // It still runs: otherwise this would have waited for its end.
  expect(process.kill(Number(/^ {2}(\d+)$/m.exec(stdout)?.[1]), "SIGKILL")).toBe(true);
});
