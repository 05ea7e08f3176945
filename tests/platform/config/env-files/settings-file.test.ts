import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { starterMark } from "../../../../lib/platform/account/started-by.ts";
import { readCommandSettings } from "../../../../lib/platform/config/env-files/settings-file.ts";
import type { OpsError } from "../../../../lib/platform/errors.ts";

const isRoot = process.geteuid?.() === 0;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "opsctl-settings-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function put(text: string, { mode = 0o600, name = "webhook.env" } = {}): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

function read(env: Record<string, string | undefined> = {}, words = "webhook serve") {
  return readCommandSettings(words, { OPSCTL_ENV_DIR: folder, ...env });
}

function errorOf(act: () => unknown): OpsError {
  try {
    act();
  } catch (error) {
    return error as OpsError;
  }
  throw new Error("Nothing was thrown");
}

describe("readCommandSettings()", () => {
  test("lays the file under the environment, and asks it for what is empty there", () => {
    const path = put("A=file\nB=file\nC=file\nD=\n");
    const { env, path: from, hidden } = read({ A: "given", B: "", C: " \t", D: "", E: "given" });
    expect(env).toEqual({ A: "given", B: "file", C: "file", D: "", E: "given", OPSCTL_ENV_DIR: folder });
    expect({ from, hidden }).toEqual({ from: path, hidden: ["A"] });
  });

  test("names what the environment hides, not what both say alike or the file leaves empty", () => {
    put("SAME=1\nOTHER=1\nEMPTY=\n");
    expect(read({ SAME: "1", OTHER: "2", EMPTY: "3" }).hidden).toEqual(["OTHER"]);
  });

  test.each([
    ["webhook dead list", "webhook.env"],
    ["webhook test", "webhook.env"],
    ["alert-rules contact-point apply", "alert-rules.env"],
    ["weekly", "weekly.env"],
    ["reports status", "weekly.env"],
    ["deliveries look-up", "weekly.env"],
    ["migrate", "weekly.env"],
    ["collect-metrics", "collect-metrics.env"],
    ["socket-monitor", "socket-monitor.env"],
  ])("reads for %s the file %s", (words, name) => {
    put("A=file\n", { name });
    expect(read({}, words).env.A).toBe("file");
  });

  test("reads no file for a command that has none, and none where there is none", () => {
    put("A=file\n", { name: "doctor.env" });
    const none = { env: { OPSCTL_ENV_DIR: folder }, isThere: false, names: [], hidden: [] };
    expect(read({}, "doctor")).toEqual({ ...none, path: null });
    expect(read()).toEqual({ ...none, path: join(folder, "webhook.env") });
    put("");
    expect(read()).toMatchObject({ isThere: true });
  });

  test.each(["", "  "])("reads no file with OPSCTL_ENV_DIR %j", (directory) => {
    put("A=file\n");
    expect(read({ OPSCTL_ENV_DIR: directory }).env).toEqual({ OPSCTL_ENV_DIR: directory });
  });

  test("asks for another file where this one is none or too long, not for another account", () => {
    mkdirSync(join(folder, "webhook.env"));
    const hint = "Make it a text file of NAME=value lines, at most 1 MiB";
    expect(errorOf(() => read())).toMatchObject({ code: "SECRET_FILE_UNREADABLE", hint });
    put("#".repeat(1_048_577), { name: "weekly.env" });
    expect(errorOf(() => read({}, "weekly"))).toMatchObject({ code: "SECRET_FILE_UNREADABLE", hint });
  });

  test.skipIf(!isRoot)("does not send root back to root, who has become the account already", () => {
    const path = put("A=file\n");
    chownSync(path, 4242, 4242);
    const { hint } = errorOf(() => read({ OPSCTL_STARTED_BY: starterMark("root", process.ppid) }));
    expect(hint).toBe(
      `Look at it, then give it to the account that reads it: chown -h opsctl:opsctl ${path}`,
    );
  });

  test("refuses a directory that is no absolute path", () => {
    expect(errorOf(() => read({ OPSCTL_ENV_DIR: "etc" }))).toMatchObject({ code: "CONFIG_INVALID" });
  });

  test.each([0o640, 0o604])("refuses a file with mode %o", (mode) => {
    const path = put("A=file\n", { mode });
    expect(errorOf(read)).toMatchObject({ code: "SECRET_FILE_EXPOSED", hint: `chmod 0600 ${path}` });
  });

  test.each([0o620, 0o602])("has root move a file away that others could write to, mode %o", (mode) => {
    const path = put("A=file\n", { mode });
    expect(errorOf(read)).toMatchObject({
      code: "SECRET_FILE_EXPOSED",
      hint: isRoot ? `Look at it, then move it away: mv -nT ${path} ${path}.foreign` : `chmod 0600 ${path}`,
    });
  });

  test("refuses a line that only a shell understands, with file and line, without its text", () => {
    const path = put("A=1\nexport B=canary\nC=canary$x\n");
    const { code, message, hint } = errorOf(read);
    expect(code).toBe("ENV_FILE_INVALID");
    expect(message).toContain(`file ${path}\n  line 2 begins with export`);
    expect(message).toContain("\n  line 3 holds $");
    expect(`${message}${hint}`).not.toContain("canary");
  });

  test("says at most twenty lines of a file that is something else", () => {
    put("no assignment\n".repeat(60_000));
    const lines = errorOf(read).message.split("\n");
    expect(lines).toHaveLength(22);
    expect(lines.at(-1)).toBe("  and 59980 more lines");
  });

  test("says as whom to run when the file cannot be read", () => {
    symlinkSync("webhook.env", join(folder, "webhook.env"));
    const { code, hint } = errorOf(read);
    expect(code).toBe("SECRET_FILE_UNREADABLE");
    expect(hint).toMatch(
      /as root without --as-is, or as the account opsctl; where the file is another's, look at it, then give it over: chown -h opsctl:opsctl \S+$/,
    );
  });

  test("refuses what is no UTF-8 text, and what is too large", () => {
    writeFileSync(join(folder, "webhook.env"), new Uint8Array([0x41, 0x3d, 0xff]), { mode: 0o600 });
    expect(errorOf(read).code).toBe("SECRET_FILE_UNREADABLE");
    put(`A=${"x".repeat(1_048_576)}\n`);
    expect(errorOf(read).code).toBe("SECRET_FILE_UNREADABLE");
  });

  test.if(isRoot)("refuses another account's file, and says as whom to run", () => {
    chownSync(put("A=1\n"), 64_001, 64_001);
    const { code, hint } = errorOf(read);
    expect(code).toBe("SECRET_FILE_UNTRUSTED");
    expect(hint).toContain("without --as-is");
    const path = put("A=1\n", { name: "collect-metrics.env" });
    chownSync(path, 64_001, 64_001);
    expect(errorOf(() => read({}, "collect-metrics")).hint).toEndWith(
      `others chose what is in this one. Look at it, then move it away: mv -nT ${path} ${path}.foreign`,
    );
  });

  test("follows a link of its own", () => {
    put("A=linked\n", { name: "real" });
    symlinkSync(join(folder, "real"), join(folder, "webhook.env"));
    expect(read().env.A).toBe("linked");
  });
});
