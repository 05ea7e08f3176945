import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { accessOf, allows, directoryLine, openingLine } from "../../../lib/doctor/facts/access.ts";

const account = { name: "opsctl", uid: 4242, gids: [4242, 50] };

describe("allows()", () => {
  test.each([
    ["the owner's bits for the owner", 0o700, 4242, 1, "read", true],
    ["the owner's bits alone, although others may more", 0o077, 4242, 1, "read", false],
    ["the group's bits for a member", 0o040, 1, 50, "read", true],
    ["the group's bits alone", 0o604, 1, 50, "read", false],
    ["others' bits for everybody else", 0o604, 1, 1, "read", true],
    ["entering a directory", 0o711, 1, 1, "enter", true],
    ["listing a directory, which is reading and entering", 0o754, 1, 1, "list", false],
    ["writing into a directory, which is writing and entering", 0o752, 1, 1, "write-into", false],
    ["writing into a directory that is open to all", 0o757, 1, 1, "write-into", true],
    ["only what is asked for", 0o644, 4242, 1, "write-into", false],
  ] as const)("counts %s", (_what, mode, uid, gid, want, expected) => {
    expect(allows({ mode, uid, gid }, account, want)).toBe(expected);
  });

  test("lets root do everything", () => {
    expect(allows({ mode: 0, uid: 1, gid: 1 }, { name: "root", uid: 0, gids: [0] }, "write-into")).toBe(true);
  });
});

describe("accessOf()", () => {
  const folder = mkdtempSync(join(tmpdir(), "opsctl-access-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o755);
  mkdirSync(join(folder, "closed"));
  writeFileSync(join(folder, "closed/file"), "");
  chmodSync(join(folder, "closed/file"), 0o644);
  chmodSync(join(folder, "closed"), 0o700);
  writeFileSync(join(folder, "open"), "");
  chmodSync(join(folder, "open"), 0o644);
  symlinkSync(join(folder, "open"), join(folder, "link"));

  test("allows what every directory on the way allows, through links too", async () => {
    expect(await accessOf(join(folder, "open"), account, "read")).toEqual({ status: "allowed" });
    expect(await accessOf(join(folder, "link"), account, "read")).toEqual({ status: "allowed" });
  });

  test("names the directory that is closed", async () => {
    expect(await accessOf(join(folder, "closed/file"), account, "read")).toMatchObject({
      why: "closed",
      at: join(folder, "closed"),
      text: expect.stringMatching(/\/closed with mode 0700 of uid \d+, gid \d+ is closed to opsctl$/),
    });
  });

  test("names what is missing", async () => {
    expect(await accessOf(join(folder, "none/file"), account, "read")).toMatchObject({
      why: "missing",
      at: join(folder, "none"),
    });
  });

  test("names a file that stands where a directory has to be", async () => {
    const file = join(folder, "open");
    const none = { why: "no_directory", at: file, text: `${file} is not a directory` };
    expect(await accessOf(join(file, "file"), account, "read")).toMatchObject(none);
    for (const want of ["enter", "list", "write-into"] as const) {
      expect(await accessOf(file, account, want)).toMatchObject(none);
      expect(await accessOf(file, { name: "root", uid: 0, gids: [0] }, want)).toMatchObject(none);
    }
  });

  test("gives a file over, and no directory on the way", () => {
    const closed = (at: string) => ({ status: "refused", why: "closed", at, text: "" }) as const;
    expect(openingLine(closed("/etc/a/key"), "/etc/a/key", "opsctl")).toBe(
      "Look at it, then: chown -h opsctl /etc/a/key",
    );
    expect(openingLine(closed("/etc"), "/etc/a/key", "opsctl")).toBe("chmod o+x /etc");
  });

  test("puts a directory where there is none, by a path without a slash at its end", () => {
    const missing = { status: "refused", why: "missing", at: "/srv", text: "" } as const;
    expect(directoryLine(missing, "/srv/opsctl/", "-m 0755")).toBe("install -d -m 0755 /srv/opsctl");
    expect(directoryLine({ ...missing, why: "no_directory" }, "/srv/opsctl", "-m 0755")).toBe(
      "mv -nT /srv /srv.old && install -d -m 0755 /srv/opsctl",
    );
  });
});
