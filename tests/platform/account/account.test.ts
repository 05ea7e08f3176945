import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asAccount, findAccount, trustedUids } from "../../../lib/platform/account/account.ts";
import { isRootHere, OTHER_UID } from "../support/other-account.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "opsctl-account-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("findAccount()", () => {
  test("knows an account by its number, and a number without a line has no group", () => {
    const passwd = join(folder, "passwd");
    writeFileSync(
      passwd,
      "root:x:0:0:root:/root:/bin/sh\nalloy:x:998:997::/var/lib/alloy:/bin/false\nbroken:x:996\n",
    );
    expect(findAccount(998, passwd)).toEqual({ name: "alloy", uid: 998, gid: 997 });
    expect(findAccount(99, passwd)).toEqual({ name: null, uid: 99, gid: 65534 });
    expect(findAccount(996, passwd)).toEqual({ name: null, uid: 996, gid: 65534 });
  });
});

test("trustedUids() are root and this account", () => {
  expect(trustedUids()).toEqual(isRootHere ? [0] : [0, process.geteuid!()]);
});

describe(`asAccount()${isRootHere ? "" : " (not tried: only root can become another account)"}`, () => {
  /** Identity and capabilities of a command that was started so. */
  function statusAs(uid: number): Record<string, string> {
    const [program = "", ...args] = asAccount(findAccount(uid), ["cat", "/proc/self/status"]);
    const { stdout } = spawnSync(program, args, { encoding: "utf8" });
    return Object.fromEntries(stdout.split("\n").map((line) => line.split(":\t") as [string, string]));
  }

  test.each([OTHER_UID, 4_000_123])("leaves uid %d nothing of root's, and no way back", (uid) => {
    if (!isRootHere) return;
    const none = "0000000000000000";
    const status = statusAs(uid);
    expect(status.Uid).toBe(Array(4).fill(uid).join("\t"));
    expect(status.Gid).toBe(Array(4).fill(65534).join("\t"));
    expect(status.Groups?.split(" ")).not.toContain("0");
    expect(status).toMatchObject({ CapInh: none, CapPrm: none, CapEff: none, CapAmb: none, NoNewPrivs: "1" });
  });
});
