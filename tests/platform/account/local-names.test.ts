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

/** The group file with this many more groups that have the account. */
function teams(count: number, name = "team"): string {
  const lines = Array.from({ length: count }, (_, index) => `${name}-${index}:x:${70_000 + index}:opsctl\n`);
  return `opsctl:x:997:\n${lines.join("")}`;
}

function namesWith(
  files: Partial<Record<keyof typeof ETC, string | Buffer>> = {},
  account: Parameters<typeof localNames>[0] = OPSCTL,
) {
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
    ["a group's name is no UTF-8", { group: Buffer.from(`${ETC.group}caf\xe9:x:6:opsctl\n`, "latin1") }],
    ["a group's name has a control character", { group: `${ETC.group}a\0b:x:6:opsctl\n` }],
    ["there are more groups than can be looked up soon", { group: teams(500) }],
    ["they are longer than a word of a command line", { group: teams(400, "x".repeat(200)) }],
  ])("are none where %s", (_why, files) => expect(namesWith(files)).toBeNull());

  test.each([
    ["without a number", "bad:x:abc:opsctl\n"],
    ["with an empty number", "bad:x::opsctl\n"],
    ["with a number that changes nothing", "bad:x:4294967295:opsctl\n"],
    ["with a number of more than 32 bits", "bad:x:4294967296:opsctl\n"],
    ["with a negative number", "bad:x:-5:opsctl\n"],
    ["that ends too soon", "bad\n"],
    ["that is a comment", "#bad:x:6:opsctl\n"],
  ])("leave out a line %s", (_why, line) => {
    const names = { user: "opsctl", group: "opsctl", groups: ["opsctl", "adm"] };
    expect(namesWith({ group: `${line}${ETC.group}` })).toEqual(names);
    expect(namesWith({ group: `opsctl:x:abc:\n${line}${ETC.group}` })).toEqual(names);
  });

  test("leave out root's own group beside the account's", () => {
    const group = ETC.group.replace("root:x:0:", "root:x:0:opsctl");
    expect(namesWith({ group })?.groups).toEqual(["opsctl", "adm"]);
  });

  test("take the largest number, blanks as the C library does, and as many groups as can be listed", () => {
    const group = `  far:x: 4294967294:syslog, opsctl\n${ETC.group}`;
    expect(namesWith({ group })?.groups).toEqual(["opsctl", "far", "adm"]);
    expect(namesWith({ group: teams(499) })?.groups).toHaveLength(500);
  });

  test("are none of a number without a name, or where the lists cannot be read", () => {
    expect(namesWith({}, { ...OPSCTL, name: null })).toBeNull();
    rmSync(join(etc, "group"));
    expect(localNames(OPSCTL, etc)).toBeNull();
  });
});
