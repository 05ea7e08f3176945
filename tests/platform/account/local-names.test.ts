import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { localNames } from "../../../lib/platform/account/local-names.ts";

const OPSCTL = { name: "opsctl", uid: 998, gid: 997 };
const ETC = {
  "nsswitch.conf": "passwd: files sss\ngroup: files sss\n",
  passwd: "root:x:0:0:root:/root:/bin/sh\nopsctl:x:998:997::/var/lib/opsctl:/bin/false\n",
  group: "root:x:0:\nopsctl:x:997:\nadm:x:4:syslog,opsctl\nopsctl-old:x:5:opsctl2\n",
};

let etc: string;
beforeEach(() => {
  etc = mkdtempSync(join(tmpdir(), "opsctl-etc-"));
});
afterEach(() => rmSync(etc, { recursive: true }));

function namesWith(files: Partial<typeof ETC> = {}, account: Parameters<typeof localNames>[0] = OPSCTL) {
  for (const [name, text] of Object.entries({ ...ETC, ...files })) writeFileSync(join(etc, name), text);
  return localNames(account, etc);
}

describe("localNames()", () => {
  test("are those of the account, its group and all its groups", () => {
    expect(namesWith()).toEqual({ user: "opsctl", group: "opsctl", groups: ["opsctl", "adm"] });
    expect(namesWith({ group: "service:x:997:opsctl\n" })).toEqual({
      ...{ user: "opsctl", group: "service", groups: ["service"] },
    });
  });

  test.each([
    ["another source is asked first", { "nsswitch.conf": "passwd: sss files\ngroup: files\n" }],
    ["another source of groups is asked first", { "nsswitch.conf": "passwd: files\ngroup: sss files\n" }],
    ["the host does not say what it asks", { "nsswitch.conf": "" }],
    ["the file does not have the account", { passwd: "root:x:0:0:root:/root:/bin/sh\n" }],
    ["the name leads to another number", { passwd: "opsctl:x:0:0::/:\n" }],
    ["the name is there twice", { passwd: `opsctl:x:0:0::/:\n${ETC.passwd}` }],
    ["its group has no name", { group: "adm:x:4:opsctl\n" }],
    ["its group's name leads to another number", { group: "opsctl:x:0:\nopsctl:x:997:\n" }],
    ["a group's name leads to another number", { group: `adm:x:0:\n${ETC.group}` }],
    ["a group's name has what separates names", { group: `${ETC.group}a,root:x:6:opsctl\n` }],
    ["a group has no name", { group: `${ETC.group}:x:6:opsctl\n` }],
  ])("are none where %s", (_why, files) => expect(namesWith(files)).toBeNull());

  test("are none of a number without a name, or where the lists cannot be read", () => {
    expect(namesWith({}, { ...OPSCTL, name: null })).toBeNull();
    rmSync(join(etc, "group"));
    expect(localNames(OPSCTL, etc)).toBeNull();
  });
});
