import { describe, expect, test } from "bun:test";
import { asksFilesFirst, hasFilesAlone } from "../../../lib/platform/account/name-sources.ts";

describe("hasFilesAlone()", () => {
  test.each(["passwd: files\n", "# x\n passwd:\tfiles systemd # y\ngroup: files sss\n", "passwd: files"])(
    "of %j",
    (text) => expect(hasFilesAlone(text)).toBe(true),
  );

  test.each([
    "",
    "passwd:\n",
    "# passwd: files\n",
    "passwd: compat\n",
    "passwd: systemd\n",
    "passwd: files sss\n",
    "passwd: sss files\n",
    "passwd: files ldap [NOTFOUND=return]\n",
    "passwd: files [NOTFOUND=return] sss\n",
    "passwd: files\npasswd: sss\n",
    "shadow: files\n",
  ])("not of %j", (text) => expect(hasFilesAlone(text)).toBe(false));
});

describe("asksFilesFirst()", () => {
  test.each([
    "passwd: files\n",
    "passwd: files sss\n",
    " passwd:\tfiles ldap [NOTFOUND=return] # y\n",
    "group: sss\npasswd: files systemd\n",
  ])("of %j", (text) => expect(asksFilesFirst(text, "passwd")).toBe(true));

  test.each([
    "",
    "passwd:\n",
    "passwd: sss files\n",
    "passwd: compat\n",
    "passwd: files [SUCCESS=continue] sss\n",
    "passwd: files\npasswd: sss\n",
    "group: files\n",
  ])("not of %j", (text) => expect(asksFilesFirst(text, "passwd")).toBe(false));

  test("is asked of one list at a time", () => {
    const text = "passwd: sss\ngroup: files sss\n";
    expect([asksFilesFirst(text, "passwd"), asksFilesFirst(text, "group")]).toEqual([false, true]);
  });
});
