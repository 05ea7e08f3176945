import { describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { opsctl } from "../e2e/support/opsctl.ts";

const COMMANDS = [
  ["weekly"],
  ["migrate"],
  ["deliveries", "list"],
  ["deliveries", "show"],
  ["deliveries", "reconcile"],
];
const BARE = { OPSCTL_SECRETS_DIR: "/nonexistent" };

describe("help", () => {
  test.each([
    [],
    ["--help"],
    ["-h"],
    ["deliveries"],
    ["deliveries", "--help"],
    ...COMMANDS.map((c) => [...c, "--help"]),
  ])("opsctl %p is on standard output, without colour", async (...words) => {
    const forced = { FORCE_COLOR: "3", CLICOLOR_FORCE: "1", TERM: "xterm-256color" };
    const { exitCode, stdout, stderr } = await opsctl(words, { env: forced });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toContain("Usage: opsctl");
    expect(stdout).not.toContain("\u001b");
  });

  test.each(COMMANDS)("of %s %s has an example that the command itself accepts", async (...words) => {
    const { stdout } = await opsctl([...words, "--help"]);
    const example = /Example:\n {2}opsctl ((?:.+\\\n)*.+)/.exec(stdout)?.[1]?.replace(/\\\n\s+/g, "");
    expect(example).toStartWith(words.join(" "));
    const quoted = example?.match(/"[^"]*"|\S+/g)?.map((word) => word.replace(/^"|"$/g, ""));
    const { exitCode } = await opsctl(quoted as string[], { env: BARE });
    expect(exitCode).toBe(3);
  });

  test("is shown wherever --help stands, and nothing else happens", async () => {
    const { exitCode, stdout } = await opsctl(["weekly", "--tenant", "x", "--bogus", "--help"], {
      env: BARE,
    });
    expect(exitCode).toBe(0);
    expect(stdout).toContain("Usage: opsctl weekly");
    const behindDashes = await opsctl(["weekly", "--", "--help"]);
    expect(behindDashes.exitCode).toBe(2);
  });
});

describe("the working directory and the surroundings", () => {
  test("change nothing about the binary: .env, bunfig.toml, package.json, NODE_ENV, CI", async () => {
    const folder = mkdtempSync(join(tmpdir(), "opsctl-surroundings-"));
    try {
      mkdirSync(join(folder, "node_modules"));
      writeFileSync(join(folder, "preload.ts"), 'console.log("canary-preload");');
      writeFileSync(
        join(folder, "bunfig.toml"),
        'preload = ["./preload.ts"]\n[run]\npreload = ["./preload.ts"]\n',
      );
      for (const name of [".env", ".env.local", ".env.production", ".env.test"])
        writeFileSync(join(folder, name), "DATABASE_URL=not-a-url\nOPSCTL_LOG_LEVEL=error\nNO_COLOR=1\n");
      writeFileSync(join(folder, "package.json"), '{"type":"commonjs"}');
      const env = { ...BARE, DATABASE_URL: "postgres://u:p@127.0.0.1:1/db" };
      const settings = [
        {},
        { NODE_ENV: "test" },
        { NODE_ENV: "production" },
        { CI: "true", TEST: "1" },
        { DEBUG: "1" },
      ];
      const logged = new Set<string>();
      for (const setting of settings) {
        const { exitCode, json, stderr } = await opsctl(["migrate", "--json"], {
          env: { ...env, ...setting },
          cwd: folder,
        });
        expect(exitCode).toBe(3);
        expect(json).toMatchObject({ error: { code: "DATABASE_UNREACHABLE" } });
        logged.add(stderr.replaceAll(/^[0-9:]{8} /gm, ""));
      }
      expect(logged.size).toBe(1);
      const withoutUrl = await opsctl(["migrate", "--json"], { env: BARE, cwd: folder });
      expect(withoutUrl.json).toMatchObject({
        error: { message: expect.stringContaining("DATABASE_URL: is missing") },
      });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
