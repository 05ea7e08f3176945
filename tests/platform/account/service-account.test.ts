import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { firstProgram, linesOf, serviceAccountIn } from "../../../lib/platform/account/service-account.ts";

const ROOT = "root:x:0:0:root:/root:/bin/bash\n";

describe("serviceAccountIn()", () => {
  test("reads the account's line", () => {
    const lines = `${ROOT}opsctl-old:x:5:5::/:\nopsctl:x:998:997:the service:/var/lib/opsctl:/usr/sbin/nologin\n`;
    expect(serviceAccountIn(lines)).toEqual({ name: "opsctl", uid: 998, gid: 997, home: "/var/lib/opsctl" });
  });

  test.each(["", ROOT, `${ROOT}opsctl2:x:998:997::/:\n`, `${ROOT}#opsctl:x:998:997::/:\n`])(
    "is null where there is none: %p",
    (lines) => expect(serviceAccountIn(lines)).toBeNull(),
  );

  test("reads a line as the C library does, which skips blanks before it", () => {
    expect(serviceAccountIn(`${ROOT} opsctl:x:998: 997::/:\n`)).toMatchObject({ uid: 998, gid: 997 });
  });

  // A command would start itself for ever if root could become root.
  test("is null where the name is root's own number", () => {
    expect(serviceAccountIn("opsctl:x:0:0::/:/bin/sh\n")).toBeNull();
    expect(serviceAccountIn("opsctl:x:000:0::/:/bin/sh\n")).toBeNull();
  });

  // setresuid(-1) changes nothing: the child would be root, and start itself as the account again.
  test.each([
    ["opsctl:x:4294967295:997::/:\n", "has 4294967295, more than"],
    ["opsctl:x:998:4294967295::/:\n", "has 4294967295, more than"],
    ["opsctl:x:4294967296:997::/:\n", "lacks the numbers"],
    ["opsctl:x:998:0::/:\n", "its group is root's own"],
    ["opsctl:x:998:00::/:\n", "its group is root's own"],
  ])("refuses %p", (line, reason) => expect(() => serviceAccountIn(line)).toThrow(reason));

  test("takes the largest number", () => {
    const { uid, gid } = serviceAccountIn("opsctl:x:4294967294:4294967294::/:\n")!;
    expect([uid, gid]).toEqual([4_294_967_294, 4_294_967_294]);
  });

  test.each(["opsctl:x:::/:\n", "opsctl\n:", "opsctl:x:-1:5::/:\n", "opsctl:x:1e3:5::/:\n"])(
    "takes no line without numbers for an absent account: %p",
    (lines) => {
      if (!lines.startsWith("opsctl:")) expect(serviceAccountIn(lines)).toBeNull();
      else expect(() => serviceAccountIn(lines)).toThrow("its line in the host's list lacks the numbers");
    },
  );
});

test("firstProgram() is the first that can be started", () => {
  expect(firstProgram(["/nowhere/sh", "/etc/passwd", "/bin/sh", "/usr/bin/env"])).toBe("/bin/sh");
  expect(firstProgram(["/nowhere/sh"])).toBeNull();
});

describe("linesOf()", () => {
  /** What it says of a `getent` that is this shell script. */
  async function said(script: string, limitMs = 60_000): Promise<string> {
    const folder = mkdtempSync(join(tmpdir(), "opsctl-getent-"));
    try {
      writeFileSync(join(folder, "getent"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
      return await linesOf(join(folder, "getent"), limitMs);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  test("asks for the account, and takes an unknown one for absent", async () => {
    expect(await said('echo "$@"')).toBe("passwd opsctl\n");
    expect(await said("exit 2")).toBe("");
  });

  test.each([
    ["exit 3", "getent ended with 3"],
    ["kill -9 $$", "getent ended with a signal"],
  ])("says how it failed: %s", async (script, reason) => {
    expect(await said(script).catch(({ message }: Error) => message)).toEndWith(reason);
  });

  test("ends one that hangs, and says what to look at", async () => {
    const error = await said("exec sleep 3600", 20).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: "ACCOUNT_UNAVAILABLE",
      message: "Cannot look up the account opsctl: getent did not end within 0.02 s",
      hint: expect.stringContaining("/etc/nsswitch.conf"),
    });
  });
});
