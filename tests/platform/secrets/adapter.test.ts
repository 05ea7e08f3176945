import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { secretAdapter, secretsDirectory } from "../../../lib/platform/secrets/adapter.ts";
import { FILE_FAULTS, FILE_VALUE } from "../../cases/file-faults.ts";
import { has, requires } from "../../support/requires.ts";
import { giveAway, OTHER_UID, takeBack } from "../support/other-account.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "opsctl-secrets-"));
  for (const name of ["credentials", "files"]) mkdirSync(join(home, name));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const NAME = "TRIGGER_SECRET";
const inFiles = () => join(home, "files", NAME);

function put(path: string, content: string | Uint8Array, mode = 0o600): void {
  writeFileSync(path, content);
  chmodSync(path, mode);
}

/** A vault's client as a shell script; `OPSCTL_SECRETS_COMMAND` for it. */
function client(script: string): string {
  const path = join(home, "client with a blank");
  put(path, `#!/bin/sh\n${script}\n`, 0o755);
  return path;
}

function environment(more: Record<string, string> = {}): Record<string, string> {
  return {
    CREDENTIALS_DIRECTORY: join(home, "credentials"),
    OPSCTL_SECRETS_DIR: join(home, "files"),
    ...more,
  };
}

async function found(env: Record<string, string>, options?: { fromEnvironment?: boolean }) {
  return (await secretAdapter(env)(NAME, options))?.open();
}

describe("secretAdapter() asks its layers in order", () => {
  test("credentials, then files, then the command, then the environment", async () => {
    const env = environment({
      OPSCTL_SECRETS_COMMAND: client("echo of-the-command"),
      [NAME]: "of-the-environment",
    });
    put(join(home, "credentials", NAME), "of-the-credentials\n");
    put(inFiles(), "of-the-files");
    expect(await found(env)).toBe("of-the-credentials");
    rmSync(join(home, "credentials", NAME));
    expect(await found(env)).toBe("of-the-files");
    rmSync(inFiles());
    expect(await found(env)).toBe("of-the-command");
    expect(await found({ ...env, OPSCTL_SECRETS_COMMAND: " " })).toBe("of-the-environment");
    expect(await found(environment())).toBeUndefined();
  });

  test("a blank value is absent, so the next layer is asked", async () => {
    put(join(home, "credentials", NAME), " \n");
    put(inFiles(), "");
    const env = environment({ OPSCTL_SECRETS_COMMAND: client("exit 0"), [NAME]: "of-the-environment" });
    expect(await found(env)).toBe("of-the-environment");
    expect(await found({ ...env, [NAME]: "  " })).toBeUndefined();
  });

  test("the environment is not asked when that is forbidden", async () => {
    expect(
      await found(environment({ [NAME]: "x-of-the-environment" }), { fromEnvironment: false }),
    ).toBeUndefined();
  });

  test("directories that do not exist are empty", async () => {
    const env = {
      CREDENTIALS_DIRECTORY: join(home, "no"),
      OPSCTL_SECRETS_DIR: join(home, "no"),
      [NAME]: "last-one",
    };
    expect(await found(env)).toBe("last-one");
  });
});

describe("secretAdapter() reads files", () => {
  test.each(["value", "value\n", "value\r\n"])("drops one trailing newline: %j", async (content) => {
    put(inFiles(), content);
    expect(await found(environment())).toBe("value");
  });

  for (const { name, make, refused, isAbsent, needs } of FILE_FAULTS)
    requires(...needs).test(`${refused === null ? "takes" : `refuses with ${refused}`} ${name}`, async () => {
      chmodSync(join(home, "files"), 0o755);
      make(inFiles());
      const marker = join(home, "called");
      const env = environment({
        OPSCTL_SECRETS_COMMAND: client(`touch '${marker}'`),
        [NAME]: "fallback-value",
      });
      const value = found(env);
      if (refused === null) return expect(await value).toBe(isAbsent ? "fallback-value" : FILE_VALUE);
      const { code, message } = (await value.catch((thrown) => thrown)) as Error & { code: string };
      expect([code, message]).toEqual([
        refused,
        expect.stringMatching(new RegExp(`${NAME}|^Cannot use directory `)),
      ]);
      expect(message).not.toContain("canary");
      // No further layer is asked.
      expect(existsSync(marker)).toBe(false);
    });

  test("goes on to the next layer where there is nothing, and not where the directory is a file", async () => {
    expect(await found(environment({ [NAME]: "fallback-value" }))).toBe("fallback-value");
    writeFileSync(join(home, "a-file"), "");
    const blocked = found(
      environment({ OPSCTL_SECRETS_DIR: join(home, "a-file"), [NAME]: "fallback-value" }),
    );
    await expect(blocked).rejects.toMatchObject({ code: "SECRET_FILE_UNREADABLE" });
  });
});

describe("secretAdapter() judges whose a file is, and who could have put it there", () => {
  const code = async (env = environment()) =>
    await found(env).then(
      (value) => value,
      (error: { code: string }) => error.code,
    );

  test("reads a secret as Kubernetes publishes it: links in a sticky directory, all of them its own", async () => {
    const files = join(home, "files");
    mkdirSync(join(files, "..2026_11_22"));
    put(join(files, "..2026_11_22", NAME), "published-value", 0o400);
    symlinkSync("..2026_11_22", join(files, "..data"));
    symlinkSync(join("..data", NAME), inFiles());
    chmodSync(files, 0o1777);
    expect(await code()).toBe("published-value");
  });

  requires("root").test("follows no link that another account put into a sticky directory", async () => {
    put(join(home, "of-root"), "another-secret", 0o400);
    symlinkSync(join(home, "of-root"), inFiles());
    chmodSync(join(home, "files"), 0o1777);
    expect(await code()).toBe("another-secret");
    giveAway(inFiles());
    expect(await code()).toBe("SECRET_FILE_UNTRUSTED");
  });

  requires("root").test("lets root run no command that another account owns or could exchange", async () => {
    const marker = join(home, "called");
    const outer = join(home, "outer");
    const inner = join(outer, "inner");
    mkdirSync(inner, { recursive: true });
    const command = join(inner, "client");
    put(command, `#!/bin/sh\ntouch '${marker}'\necho value\n`, 0o755);
    const env = environment({ OPSCTL_SECRETS_COMMAND: command });
    // The folder of the secrets itself must not be what is refused.
    const elsewhere = { ...env, OPSCTL_SECRETS_DIR: "/nonexistent", CREDENTIALS_DIRECTORY: "" };
    for (const path of [command, inner, outer, home]) {
      giveAway(path);
      expect(await code(elsewhere)).toBe("SECRET_COMMAND_UNTRUSTED");
      takeBack(path);
    }
    // One that is not there yet, and one behind a link of root's to a link of the account's.
    const others = join(home, "others");
    mkdirSync(others);
    symlinkSync(command, join(others, "link"));
    symlinkSync(join(others, "link"), join(home, "link-of-root"));
    giveAway(others);
    for (const path of [join(others, "missing"), join(others, "missing/client"), join(home, "link-of-root")])
      expect(await code({ ...elsewhere, OPSCTL_SECRETS_COMMAND: path })).toBe("SECRET_COMMAND_UNTRUSTED");
    chmodSync(command, 0o775);
    expect(await code(env)).toBe("SECRET_COMMAND_UNTRUSTED");
    expect(existsSync(marker)).toBe(false);
    chmodSync(command, 0o755);
    expect(await code(env)).toBe("value");
  });
});

describe("the place of the secrets", () => {
  test("is what OPSCTL_SECRETS_DIR says, else root's own for root and the account's for every other", () => {
    expect(secretsDirectory({ OPSCTL_SECRETS_DIR: " /elsewhere " })).toBe("/elsewhere");
    const own = has("root") ? "/etc/opsctl/root-secrets" : "/etc/opsctl/secrets";
    expect(secretsDirectory({ OPSCTL_SECRETS_DIR: " " })).toBe(own);
  });
});

describe("secretAdapter() runs the command", () => {
  test("a command gets the name as the only argument, without a shell, and its stderr is not shown", async () => {
    const command = client(`[ $# = 1 ] || exit 9; echo "noise" >&2; printf '%s' "<$1>"`);
    expect(await found(environment({ OPSCTL_SECRETS_COMMAND: command }))).toBe(`<${NAME}>`);
    const withArgument = found(environment({ OPSCTL_SECRETS_COMMAND: `${command} extra` }));
    await expect(withArgument).rejects.toMatchObject({ code: "SECRET_COMMAND_FAILED" });
  });

  test.each([
    ["ends with another status", "echo canary-partial; exit 3", "status 3"],
    ["is ended by a signal", "kill -KILL $$", "SIGKILL"],
  ])("fails when it %s, and names the secret alone", async (_what, script, reason) => {
    const env = environment({ OPSCTL_SECRETS_COMMAND: client(script), [NAME]: "fallback-value" });
    const error = await found(env).catch((thrown: Error) => thrown as Error & { code: string });
    expect(error).toMatchObject({ code: "SECRET_COMMAND_FAILED" });
    expect((error as Error).message).toContain(NAME);
    expect((error as Error).message).toContain(reason);
    expect((error as Error).message).not.toContain("canary");
  });

  test.each(["relative/path", "vault", "/nonexistent/vault"])(
    "fails for %s, which cannot be started",
    async (command) => {
      const failed = found(environment({ OPSCTL_SECRETS_COMMAND: command }));
      await expect(failed).rejects.toMatchObject({ code: "SECRET_COMMAND_FAILED" });
    },
  );

  test("fails where the runtime refuses to start it, and quotes no variable", async () => {
    const env = environment({ OPSCTL_SECRETS_COMMAND: client("echo value"), OTHER: "canary\0value" });
    const error = await found(env).catch((thrown: Error) => thrown);
    expect(error).toMatchObject({ code: "SECRET_COMMAND_FAILED" });
    expect(String(error)).not.toContain("canary");
  });

  test("ends it, and what it started, when the limit has passed", async () => {
    const pids = join(home, "pids");
    const command = client(`sleep 600 & echo "$! $$" > '${pids}.new'; mv '${pids}.new' '${pids}'; wait`);
    const adapter = secretAdapter(environment({ OPSCTL_SECRETS_COMMAND: command }));
    await expect(adapter(NAME, { commandLimitMs: 500 })).rejects.toThrow("did not answer within 0.5 s");
    const started = readFileSync(pids, "utf8").trim().split(" ").map(Number);
    expect(started).toHaveLength(2);
    // Killed at once, gone a moment later; a test that never ends is one that failed.
    for (const pid of started) while (isRunning(pid)) await new Promise(setImmediate);
  });

  test("does not wait for a process that keeps the command's output open", async () => {
    const command = client("sleep 600 & echo kept-open");
    const adapter = secretAdapter(environment({ OPSCTL_SECRETS_COMMAND: command }));
    await expect(adapter(NAME, { commandLimitMs: 500 })).rejects.toMatchObject({
      code: "SECRET_COMMAND_FAILED",
    });
  });

  test("stops it when it prints without end", async () => {
    const env = environment({ OPSCTL_SECRETS_COMMAND: client("yes") });
    await expect(found(env)).rejects.toThrow("bytes");
  });
});

/** A killed process may still be listed as a zombie until its parent asks; that is not running. */
function isRunning(pid: number): boolean {
  try {
    const [, state] = /^State:\s*(\S)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return state !== "Z" && state !== "X";
  } catch {
    return false;
  }
}

requires("root", "setfacl").test(
  "secretAdapter() takes a credential as systemd hands it to an account, and not as root",
  async () => {
    const env = { CREDENTIALS_DIRECTORY: join(home, "credentials") };
    const path = join(home, "credentials", NAME);
    put(path, "of-systemd", 0o400);
    for (const folder of [home, join(home, "credentials")]) chmodSync(folder, 0o755);
    expect(spawnSync("setfacl", ["-m", `u:${OTHER_UID}:r`, path]).status).toBe(0);
    expect(statSync(path).mode & 0o777).toBe(0o440);
    await expect(found(env)).rejects.toMatchObject({ code: "SECRET_FILE_EXPOSED" });
    process.seteuid?.(OTHER_UID);
    try {
      expect(await found(env)).toBe("of-systemd");
    } finally {
      process.seteuid?.(0);
    }
  },
);
