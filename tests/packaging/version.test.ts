/** The version of a release, and its notes, in repositories of their own. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { type Ran, run } from "../systemd/support/clone.ts";

const ROOT = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "opsctl-version-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ENV = {
  PATH: process.env.PATH,
  HOME: folder,
  TZ: "America/Sao_Paulo",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "a",
  GIT_AUTHOR_EMAIL: "a@example.org",
  GIT_COMMITTER_NAME: "a",
  GIT_COMMITTER_EMAIL: "a@example.org",
  GIT_COMMITTER_DATE: "2026-01-02T03:04:05-03:00",
};

function repository(changelog: string, ...tags: string[]): string {
  const place = mkdtempSync(join(folder, "repository-"));
  writeFileSync(join(place, "package.json"), '{\n  "name": "opsctl",\n  "version": "0.2.0",\n  "x": 1\n}\n');
  writeFileSync(join(place, "CHANGELOG.md"), changelog);
  const commands = ["init -q", "add .", "commit -qm x", ...tags.map((tag) => `tag ${tag}`)];
  for (const words of commands) expect(git(place, words).status).toBe(0);
  return place;
}

function git(cwd: string, words: string): Ran {
  return run("git", words.split(" "), { cwd, env: ENV });
}

function version(cwd: string, env: object = {}): Ran {
  return run("sh", [join(ROOT, "packaging/version.sh")], { cwd, env: { ...ENV, ...env } });
}

const UNRELEASED = "# Changelog\n\n## Unreleased\n\n- new\n\n## 0.1.0\n\n- old\n";
const RELEASED = "# Changelog\n\n## 0.2.0\n\n- new\n\n## 0.1.0\n\n- old\n";

test("a commit before the release has a version before it, with the commit's time in UTC", () => {
  const { stdout } = version(repository(UNRELEASED));
  expect(stdout).toMatch(/^0\.2\.0~20260102060405\.[0-9a-f]{12}\n$/);
});

test("a commit after the release has a version after it", () => {
  expect(version(repository(RELEASED)).stdout).toMatch(/^0\.2\.0\+20260102060405\.[0-9a-f]{12}\n$/);
});

test("the commit with the release's tag has its version, and needs its section", () => {
  expect(version(repository(RELEASED, "v0.2.0")).stdout).toBe("0.2.0\n");
  expect(version(repository(RELEASED, "v0.1.0")).stdout).toStartWith("0.2.0+");
  const after = repository(RELEASED, "v0.2.0");
  git(after, "commit -q --allow-empty -m next");
  expect(version(after).stdout).toStartWith("0.2.0+");
  const { status, stderr } = version(repository(UNRELEASED, "v0.2.0"));
  expect([status, stderr]).toEqual([1, expect.stringContaining("no section ## 0.2.0")]);
});

test.each([["CHANGELOG.md"], ["new-file"]])(
  "a tree with a change of %s is refused, or marked on demand",
  (name) => {
    const place = repository(RELEASED, "v0.2.0");
    writeFileSync(join(place, name), "changed\n## 0.2.0\n");
    expect(version(place)).toMatchObject({
      status: 1,
      stdout: "",
      stderr: expect.stringContaining("git status"),
    });
    expect(version(place, { ALLOW_CHANGES: "1" }).stdout).toBe("0.2.0+changes\n");
  },
);

test("the notes are the version's section, or what is unreleased", () => {
  const notes = (place: string, name: string) =>
    run("sh", [join(ROOT, "packaging/release-notes.sh"), name], { cwd: place, env: ENV });
  expect(notes(repository(RELEASED), "0.2.0").stdout).toBe("# opsctl 0.2.0\n\n- new\n");
  expect(notes(repository(UNRELEASED), "0.2.0~1").stdout).toBe("# opsctl 0.2.0~1\n\n- new\n");
});
