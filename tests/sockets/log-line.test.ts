import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  linkSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { appendReadings, SOCKET_LOG_FILE } from "../../lib/sockets/log-line.ts";
import { asRootAlone, giveAway, isRootHere } from "../platform/support/other-account.ts";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "opsctl-log-line-"));
  path = join(folder, SOCKET_LOG_FILE);
});
afterEach(() => rmSync(folder, { recursive: true }));

const LINE = {
  time: "2026-11-22T07:00:00.000Z",
  total: 1,
  closeWait: 0,
  load1: null,
  load5: null,
  load15: null,
  proxyMemoryBytes: null,
};
const append = () => appendReadings(folder, LINE);
const refusal = async () => await append().catch((error: { code: string; message: string }) => error);

describe("appendReadings()", () => {
  test("makes the log, and adds a line to it", async () => {
    await append();
    // As cron makes it where each account has a group of its own.
    chmodSync(path, 0o664);
    await append();
    expect(readFileSync(path, "utf8")).toBe(`${JSON.stringify(LINE)}\n`.repeat(2));
  });

  test("writes through no link and into no file with a second name", async () => {
    const victim = join(folder, "victim");
    writeFileSync(victim, "mine", { mode: 0o600 });
    for (const plant of [symlinkSync, linkSync]) {
      plant(victim, path);
      expect(await refusal()).toMatchObject({ code: "LOG_UNWRITABLE" });
      rmSync(path);
    }
    symlinkSync(join(folder, "nowhere"), path);
    expect(await refusal()).toMatchObject({ code: "LOG_UNWRITABLE" });
    expect(readFileSync(victim, "utf8")).toBe("mine");
    expect(readdirSync(folder)).not.toContain("nowhere");
  });

  test("does not wait for the reader of a pipe", async () => {
    execFileSync("mkfifo", ["-m", "600", path]);
    expect(await refusal()).toMatchObject({ code: "LOG_UNWRITABLE" });
  });

  test(`lets root write nothing in another account's directory${asRootAlone}`, async () => {
    if (!isRootHere) return;
    giveAway(folder);
    expect(await refusal()).toMatchObject({
      code: "LOG_UNWRITABLE",
      message: expect.stringContaining("expected root"),
    });
    expect(readdirSync(folder)).toEqual([]);
  });
});
