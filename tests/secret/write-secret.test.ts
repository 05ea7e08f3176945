/** A secret's file: whole or not at all, with owner and mode, in a directory that no other account can change. */
import { afterEach, beforeEach, describe, expect } from "bun:test";
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Place } from "../../lib/secret/place.ts";
import { FILE_FAULTS } from "../cases/file-faults.ts";
import { giveAway } from "../platform/support/other-account.ts";
import { requires } from "../support/requires.ts";
import { smallDisk } from "../support/small-disk.ts";
import { openPlaces, type Places, READER, set } from "./support/places.ts";

const { test } = requires("root");

let places: Places;
beforeEach(() => {
  places = openPlaces();
});
afterEach(() => places[Symbol.dispose]());

const facts = (path: string) => {
  const { uid, gid, mode } = lstatSync(path);
  return { uid, gid, mode: mode & 0o777 };
};
const refusal = (code: string, hint: unknown = expect.any(String)) => expect.objectContaining({ code, hint });

describe("a secret's file", () => {
  test("belongs to the account that reads it and is closed to all others, whatever the umask", async () => {
    const place = places.of("TRIGGER_SECRET");
    const umask = process.umask(0);
    try {
      expect(await set(place, "first-value")).toMatchObject({ isNew: true });
      expect(await set(place, "second-value")).toMatchObject({ isNew: false });
    } finally {
      process.umask(umask);
    }
    expect(readFileSync(place.path, "utf8")).toBe("second-value");
    expect(facts(place.path)).toEqual({ uid: READER.uid, gid: READER.gid, mode: 0o600 });
    expect(readdirSync(places.secrets)).toEqual(["TRIGGER_SECRET"]);
  });

  test("that root reads belongs to root", async () => {
    const place = places.of("HOSTING_TOKEN", null);
    await set(place, "roots-value");
    expect(facts(place.path)).toEqual({ uid: 0, gid: 0, mode: 0o600 });
  });

  test("replaces one of another owner, and leaves its second name as it was", async () => {
    const place = places.of("TRIGGER_SECRET");
    writeFileSync(place.path, "old", { mode: 0o644 });
    linkSync(place.path, join(places.folder, "second"));
    await set(place, "new-value");
    expect(readFileSync(place.path, "utf8")).toBe("new-value");
    expect(readFileSync(join(places.folder, "second"), "utf8")).toBe("old");
  });

  requires("root", "mount").test("is as it was on a full disk, and nothing else is left there", async () => {
    const disk = smallDisk(1);
    try {
      chmodSync(disk.directory, 0o755);
      const directory = join(disk.directory, "secrets");
      const place = { ...places.of("TRIGGER_SECRET"), directory, path: join(directory, "TRIGGER_SECRET") };
      await set(place, "old-value");
      disk.fill();
      await expect(set(place, "n".repeat(60_000))).rejects.toEqual(
        refusal("SECRET_NOT_WRITTEN", expect.stringContaining("not full")),
      );
      expect(readFileSync(place.path, "utf8")).toBe("old-value");
      expect(readdirSync(directory)).toEqual(["TRIGGER_SECRET"]);
    } finally {
      disk.remove();
    }
  });

  test("is the old one or the new one, never half, when the writer is killed", async () => {
    const place = places.of("TRIGGER_SECRET");
    const writer = join(import.meta.dirname, "support/write-again.ts");
    for (let kill = 0; kill < 8; kill += 1) {
      const child = Bun.spawn([process.execPath, writer, JSON.stringify(place)], { stdout: "pipe" });
      const reader = child.stdout.getReader();
      await reader.read();
      // At another moment each time, and none of them matters.
      for (let turn = 0; turn < kill * 20; turn += 1) await new Promise(setImmediate);
      child.kill("SIGKILL");
      await child.exited;
      expect(readFileSync(place.path, "utf8")).toMatch(/^(?:a{40000}|b{40000})$/);
      expect(facts(place.path)).toEqual({ uid: READER.uid, gid: READER.gid, mode: 0o600 });
    }
  });
});

describe("the directory of secrets", () => {
  const at = (...parts: string[]): Place => {
    const directory = join(places.folder, ...parts);
    return { ...places.of("TRIGGER_SECRET"), directory, path: join(directory, "TRIGGER_SECRET") };
  };

  test("is made with owner, group and mode where it is missing", async () => {
    await set(at("other"));
    expect(facts(join(places.folder, "other"))).toEqual({ uid: 0, gid: READER.gid, mode: 0o750 });
    const roots = { ...places.of("HOSTING_TOKEN", null), directory: join(places.folder, "roots") };
    await set({ ...roots, path: join(roots.directory, "HOSTING_TOKEN") });
    expect(facts(roots.directory)).toEqual({ uid: 0, gid: 0, mode: 0o700 });
  });

  test("is not made below one that is missing", async () => {
    await expect(set(at("gone", "secrets"))).rejects.toEqual(
      refusal("SECRET_NOT_WRITTEN", expect.stringContaining("make install")),
    );
  });

  test("is refused where another account owns it, a directory above it, or the one with a link to it", async () => {
    giveAway(places.secrets);
    const own = expect.stringContaining("Keep secrets in a directory of root's");
    await expect(set(at("secrets"))).rejects.toEqual(refusal("FILE_UNTRUSTED", own));
    mkdirSync(join(places.folder, "real"));
    mkdirSync(join(places.folder, "above/below/further/down"), { recursive: true });
    symlinkSync(join(places.folder, "real"), join(places.folder, "above/link"));
    symlinkSync(join(places.folder, "above/link"), join(places.folder, "above-by-two-links"));
    giveAway(join(places.folder, "above"));
    await expect(set(at("above-by-two-links"))).rejects.toEqual(refusal("FILE_UNTRUSTED"));
    for (const name of ["below", "below/further/down", "link", "missing"])
      await expect(set(at("above", name))).rejects.toEqual(refusal("FILE_UNTRUSTED"));
    expect(readdirSync(join(places.folder, "real"))).toEqual([]);
  });

  test("is refused where its group, or that of the directory above it, may write", async () => {
    chmodSync(places.secrets, 0o770);
    await expect(set(at("secrets"))).rejects.toEqual(refusal("FILE_UNTRUSTED"));
    chmodSync(places.secrets, 0o750);
    chmodSync(places.folder, 0o775);
    await expect(set(at("secrets"))).rejects.toEqual(refusal("FILE_UNTRUSTED"));
    expect(readdirSync(places.secrets)).toEqual([]);
  });

  test("is refused in a directory that all share, where it is missing or another's; one of root's is safe there", async () => {
    const shared = join(places.folder, "shared");
    mkdirSync(shared);
    chmodSync(shared, 0o1777);
    const place = at("shared", "keys");
    // Until the directory is made, another account can put a link in its place.
    await expect(set(place)).rejects.toEqual(refusal("FILE_UNTRUSTED"));
    expect(readdirSync(shared)).toEqual([]);
    mkdirSync(place.directory, { mode: 0o755 });
    await set(place);
    giveAway(place.directory);
    await expect(set(place)).rejects.toEqual(refusal("FILE_UNTRUSTED"));
  });
});

describe("a new value replaces", () => {
  for (const { name, make, notReplaced, is } of FILE_FAULTS)
    test(`${notReplaced === null ? "" : `not, but refuses with ${notReplaced}: `}${name}`, async () => {
      chmodSync(places.secrets, 0o755);
      const place = places.of("HOSTING_TOKEN", null);
      make(place.path);
      const target = join(places.secrets, "HOSTING_TOKEN-target");
      const behind = existsSync(target) ? readFileSync(target, "utf8") : null;
      if (notReplaced === null) {
        await set(place, "new-value");
        expect([readFileSync(place.path, "utf8"), facts(place.path)]).toEqual([
          "new-value",
          { uid: 0, gid: 0, mode: 0o600 },
        ]);
      } else {
        const error = await set(place, "new-value").catch((thrown) => thrown);
        expect(error).toEqual(refusal(notReplaced));
        if (is !== undefined)
          expect(`${error.message} ${error.hint}`).toMatch(new RegExp(`: it is ${is};.* then remove it`));
      }
      // What it leads to stays.
      if (behind !== null) expect(readFileSync(target, "utf8")).toBe(behind);
    });
});
