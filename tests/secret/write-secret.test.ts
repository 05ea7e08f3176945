/** A secret's file: whole or not at all, with owner and mode, in a directory that no other account can change. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { Secret } from "../../lib/platform/secrets/secret.ts";
import { prepareDirectory } from "../../lib/secret/directory.ts";
import type { Place } from "../../lib/secret/place.ts";
import { leftoversIn, writeSecret } from "../../lib/secret/write-secret.ts";
import { asRootAlone, giveAway, isRootHere } from "../platform/support/other-account.ts";
import { smallDisk } from "../support/small-disk.ts";
import { openPlaces, type Places, READER } from "./support/places.ts";

const NOW = Date.parse("2026-11-23T11:00:00Z");
const tried = test.skipIf(!isRootHere);

let places: Places;
beforeEach(() => {
  places = openPlaces();
});
afterEach(() => places[Symbol.dispose]());

const set = (place: Place, value: string, now = Date.now()) => {
  prepareDirectory(place);
  return writeSecret(place, new Secret(value), now);
};
const facts = (path: string) => {
  const { uid, gid, mode } = lstatSync(path);
  return { uid, gid, mode: mode & 0o777 };
};
const refusal = (code: string, hint: unknown = expect.any(String)) => expect.objectContaining({ code, hint });

describe(`a secret's file${asRootAlone}`, () => {
  tried("belongs to the account that reads it and is closed to all others, whatever the umask", () => {
    const place = places.of("TRIGGER_SECRET");
    const umask = process.umask(0);
    try {
      expect(set(place, "first-value")).toEqual({ isNew: true });
      expect(set(place, "second-value")).toEqual({ isNew: false });
    } finally {
      process.umask(umask);
    }
    expect(readFileSync(place.path, "utf8")).toBe("second-value");
    expect(facts(place.path)).toEqual({ uid: READER.uid, gid: READER.gid, mode: 0o600 });
    expect(readdirSync(places.secrets)).toEqual(["TRIGGER_SECRET"]);
  });

  tried("that root reads belongs to root", () => {
    const place = places.of("HOSTING_TOKEN", null);
    set(place, "roots-value");
    expect(facts(place.path)).toEqual({ uid: 0, gid: 0, mode: 0o600 });
  });

  tried("replaces one of another owner, and leaves its second name as it was", () => {
    const place = places.of("TRIGGER_SECRET");
    writeFileSync(place.path, "old", { mode: 0o644 });
    linkSync(place.path, join(places.folder, "second"));
    set(place, "new-value");
    expect(readFileSync(place.path, "utf8")).toBe("new-value");
    expect(readFileSync(join(places.folder, "second"), "utf8")).toBe("old");
  });

  tried("is as it was on a full disk, and nothing else is left there", () => {
    const disk = smallDisk(1);
    try {
      chmodSync(disk.directory, 0o755);
      const directory = join(disk.directory, "secrets");
      const place = { ...places.of("TRIGGER_SECRET"), directory, path: join(directory, "TRIGGER_SECRET") };
      set(place, "old-value");
      disk.fill();
      expect(() => set(place, "n".repeat(60_000))).toThrow(
        refusal("SECRET_NOT_WRITTEN", expect.stringContaining("not full")),
      );
      expect(readFileSync(place.path, "utf8")).toBe("old-value");
      expect(readdirSync(directory)).toEqual(["TRIGGER_SECRET"]);
    } finally {
      disk.remove();
    }
  });

  tried(
    "is the old one or the new one, never half, when the writer is killed; what that left goes",
    async () => {
      const place = places.of("TRIGGER_SECRET");
      const writer = join(import.meta.dirname, "support/write-again.ts");
      for (let kill = 0; kill < 8; kill += 1) {
        const child = Bun.spawn([process.execPath, writer, JSON.stringify(place)], { stdout: "pipe" });
        const reader = child.stdout.getReader();
        await reader.read();
        // At another moment each time, and none of them matters.
        await Bun.sleep(Math.random() * 5);
        child.kill("SIGKILL");
        await child.exited;
        expect(readFileSync(place.path, "utf8")).toMatch(/^(?:a{40000}|b{40000})$/);
        expect(facts(place.path)).toEqual({ uid: READER.uid, gid: READER.gid, mode: 0o600 });
      }
      for (const name of readdirSync(places.secrets)) utimesSync(join(places.secrets, name), 1, 1);
      set(place, "last-value");
      expect(readdirSync(places.secrets)).toEqual(["TRIGGER_SECRET"]);
    },
  );

  tried("takes away what a killed run left for any secret, and not what a run beside it writes", () => {
    const put = (name: string, ageMs: number) => {
      writeFileSync(join(places.secrets, name), "half");
      utimesSync(join(places.secrets, name), new Date(NOW - ageMs), new Date(NOW - ageMs));
    };
    put(".DATABASE_URL.0123456789ab.tmp", 60_001);
    put(".DATABASE_URL.ba9876543210.tmp", 60_000);
    put(".OTHERS.0123456789ab.tmp", 900_000);
    expect(leftoversIn(places.secrets, NOW)).toEqual([
      join(places.secrets, ".DATABASE_URL.0123456789ab.tmp"),
    ]);
    set(places.of("TRIGGER_SECRET"), "a-value", NOW);
    expect(readdirSync(places.secrets).sort()).toEqual([
      ".DATABASE_URL.ba9876543210.tmp",
      ".OTHERS.0123456789ab.tmp",
      "TRIGGER_SECRET",
    ]);
  });
});

describe(`the directory of secrets${asRootAlone}`, () => {
  const at = (...parts: string[]): Place => {
    const directory = join(places.folder, ...parts);
    return { ...places.of("TRIGGER_SECRET"), directory, path: join(directory, "TRIGGER_SECRET") };
  };

  tried("is made with owner, group and mode where it is missing, also after a run that was killed", () => {
    set(at("other"), "a-value");
    expect(facts(join(places.folder, "other"))).toEqual({ uid: 0, gid: READER.gid, mode: 0o750 });
    rmSync(join(places.folder, "other"), { recursive: true });
    mkdirSync(join(places.folder, "other"), { mode: 0o700 });
    set(at("other"), "a-value");
    expect(facts(join(places.folder, "other"))).toEqual({ uid: 0, gid: READER.gid, mode: 0o750 });
    const roots = { ...places.of("HOSTING_TOKEN", null), directory: join(places.folder, "roots") };
    prepareDirectory({ ...roots, path: join(roots.directory, "HOSTING_TOKEN") });
    expect(facts(roots.directory)).toEqual({ uid: 0, gid: 0, mode: 0o700 });
  });

  tried("is not made below one that is missing", () => {
    expect(() => prepareDirectory(at("gone", "secrets"))).toThrow(
      refusal("SECRET_NOT_WRITTEN", expect.stringContaining("make install")),
    );
  });

  tried("is refused where another account owns it, a directory above it, or a link to it", () => {
    const foreign = at("secrets");
    giveAway(places.secrets);
    expect(() => writeSecret(foreign, new Secret("a-value"), NOW)).toThrow(refusal("FILE_UNTRUSTED"));
    expect(() => prepareDirectory(foreign)).toThrow(
      refusal("FILE_UNTRUSTED", `chown -h root:opsctl ${places.secrets} && chmod 0750 ${places.secrets}`),
    );
    mkdirSync(join(places.folder, "above/below"), { recursive: true });
    giveAway(join(places.folder, "above"));
    const above = expect.stringContaining(`whole way is root's, such as /etc/opsctl/secrets`);
    expect(() => prepareDirectory(at("above", "below"))).toThrow(refusal("FILE_UNTRUSTED", above));
    mkdirSync(join(places.folder, "real"));
    symlinkSync(join(places.folder, "real"), join(places.folder, "link"));
    giveAway(join(places.folder, "link"));
    expect(() => prepareDirectory(at("link"))).toThrow(refusal("FILE_UNTRUSTED"));
    expect(readdirSync(join(places.folder, "real"))).toEqual([]);
  });

  tried("is refused where others may write to it", () => {
    chmodSync(places.secrets, 0o770);
    expect(() => prepareDirectory(at("secrets"))).toThrow(
      refusal(
        "FILE_UNTRUSTED",
        `chmod go-w ${places.secrets} # unless others need it, as /tmp: then name another directory`,
      ),
    );
  });

  tried(
    "is refused in a directory that all share, where it is missing or another's; one of root's is safe there",
    () => {
      const shared = join(places.folder, "shared");
      mkdirSync(shared);
      chmodSync(shared, 0o1777);
      const place = at("shared", "keys");
      // Until the line runs, or the directory is made, another account can put a link in its place, which chmod would
      // follow.
      const elsewhere = (path: string) =>
        expect.stringMatching(new RegExp(`^Keep secrets where .*: ls -ld ${path}$`));
      expect(() => prepareDirectory(place)).toThrow(refusal("FILE_UNTRUSTED", elsewhere(shared)));
      expect(readdirSync(shared)).toEqual([]);
      mkdirSync(place.directory, { mode: 0o755 });
      expect(() => prepareDirectory(place)).not.toThrow();
      giveAway(place.directory);
      expect(() => prepareDirectory(place)).toThrow(refusal("FILE_UNTRUSTED", elsewhere(place.directory)));
    },
  );

  tried("is refused where the account that reads the secret cannot enter it", () => {
    writeFileSync(join(places.secrets, "OTHER"), "");
    chmodSync(places.secrets, 0o700);
    expect(() => prepareDirectory(at("secrets"))).toThrow(refusal("SECRET_NOT_WRITTEN"));
    chmodSync(places.secrets, 0o711);
    expect(() => prepareDirectory(at("secrets"))).not.toThrow();
  });

  tried("is refused where a link or no file has the secret's name, and what that leads to stays", () => {
    const place = at("secrets");
    writeFileSync(join(places.folder, "victim"), "untouched");
    symlinkSync(join(places.folder, "victim"), place.path);
    expect(() => prepareDirectory(place)).toThrow(refusal("SECRET_NOT_WRITTEN"));
    expect(readFileSync(join(places.folder, "victim"), "utf8")).toBe("untouched");
    rmSync(place.path);
    mkdirSync(place.path);
    expect(() => prepareDirectory(place)).toThrow(refusal("SECRET_NOT_WRITTEN"));
  });
});
