import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isFree, isOfSystem } from "../../../lib/doctor/advice/free-place.ts";
import type { Step } from "../../../lib/platform/files/trusted-path.ts";

const folder = mkdtempSync(join(tmpdir(), "opsctl-free-"));
afterAll(() => rmSync(folder, { recursive: true }));
mkdirSync(join(folder, "empty"));
mkdirSync(join(folder, "full"));
writeFileSync(join(folder, "full/data"), "");

const step = (path: string, more: Partial<Step> = {}): Step => ({
  ...{ path, kind: "directory", uid: 0, mode: 0o755 },
  ...more,
});
const ROOT = [step("/"), step("/srv")];

describe("isFree()", () => {
  test("is true for nothing, and for an empty directory of root", () => {
    expect(isFree({ steps: ROOT, end: null })).toBe(true);
    expect(isFree({ steps: [step("/"), step("/srv", { kind: "link", mode: 0o777 })], end: null })).toBe(true);
    expect(isFree({ steps: ROOT, end: step(join(folder, "empty")) })).toBe(true);
  });

  test("is false for another program's directory that is empty now, and true for a new one beside it", () => {
    const beside = [step("/"), step("/var"), step("/var/lib")];
    expect(isFree({ steps: beside, end: step("/var/lib/private") })).toBe(false);
    expect(isFree({ steps: beside, end: step("/etc") })).toBe(false);
    for (const path of ["/home", "/srv", "/opt"])
      expect(isFree({ steps: [step("/")], end: step(path) })).toBe(false);
    expect(isFree({ steps: beside, end: null })).toBe(true);
    expect(isFree({ steps: [...beside, step("/var/lib/opsctl")], end: null })).toBe(true);
  });

  test.each([
    ["a directory that holds something", step(join(folder, "full"))],
    ["a file", step(join(folder, "full/data"), { kind: "other" })],
    ["another account's directory", step(join(folder, "empty"), { uid: 1000 })],
    ["a directory that others may write to", step(join(folder, "empty"), { mode: 0o1777 })],
  ])("is false for %s", (_what, end) => expect(isFree({ steps: ROOT, end })).toBe(false));

  test.each([
    ["another account's directory", step("/srv/x", { uid: 1000 })],
    ["another account's link", step("/srv/x", { kind: "link", uid: 1000 })],
    ["a directory that the group may write to", step("/srv/x", { mode: 0o775 })],
    ["a sticky directory", step("/tmp", { mode: 0o1777 })],
    ["a directory of the system behind a link", step("/etc/cron.d")],
    ["a directory of another program", step("/var/lib/dpkg")],
  ])("is false behind %s", (_what, on) => expect(isFree({ steps: [...ROOT, on], end: null })).toBe(false));
});

describe("isOfSystem()", () => {
  test.each([
    "/etc",
    "/etc/cron.d/x",
    "/root/.ssh",
    "/usr/local/x",
    "/lib64/x",
    "/run/x",
    "/var/spool/cron/x",
    "/proc/1",
  ])("is true for %s", (path) => expect(isOfSystem(path)).toBe(true));
  test.each(["/", "/srv", "/etcetera", "/var/lib/opsctl", "/var/spools", "/home/usr"])(
    "is false for %s",
    (path) => expect(isOfSystem(path)).toBe(false),
  );
});
