import { describe, expect, test } from "bun:test";
import { firstProgram, serviceAccountIn } from "../../../lib/platform/account/service-account.ts";

const ROOT = "root:x:0:0:root:/root:/bin/bash\n";

describe("serviceAccountIn()", () => {
  test("reads the account's line", () => {
    const lines = `${ROOT}opsctl-old:x:5:5::/:\nopsctl:x:998:997:the service:/var/lib/opsctl:/usr/sbin/nologin\n`;
    expect(serviceAccountIn(lines)).toEqual({ name: "opsctl", uid: 998, gid: 997, home: "/var/lib/opsctl" });
  });

  test.each(["", ROOT, `${ROOT}opsctl2:x:998:997::/:\n`, `${ROOT} opsctl:x:998:997::/:\n`])(
    "is null where there is none: %p",
    (lines) => expect(serviceAccountIn(lines)).toBeNull(),
  );

  // A command would start itself for ever if root could become root.
  test("is null where the name is root's own number", () => {
    expect(serviceAccountIn("opsctl:x:0:0::/:/bin/sh\n")).toBeNull();
    expect(serviceAccountIn("opsctl:x:000:0::/:/bin/sh\n")).toBeNull();
  });

  test.each(["opsctl:x:::/:\n", "opsctl\n:", "opsctl:x:-1:5::/:\n", "opsctl:x:1e3:5::/:\n"])(
    "takes no line without numbers for an absent account: %p",
    (lines) => {
      if (!lines.startsWith("opsctl:")) expect(serviceAccountIn(lines)).toBeNull();
      else expect(() => serviceAccountIn(lines)).toThrow("its line in the host's list has no numbers");
    },
  );
});

test("firstProgram() is the first that can be started", () => {
  expect(firstProgram(["/nowhere/sh", "/etc/passwd", "/bin/sh", "/usr/bin/env"])).toBe("/bin/sh");
  expect(firstProgram(["/nowhere/sh"])).toBeNull();
});
