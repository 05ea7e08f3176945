/** The settings file that a command reads itself: which one, what it may be, and what is said about it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { requires } from "../../support/requires.ts";
import { opsctl } from "../support/opsctl.ts";

const folder = mkdtempSync(join(tmpdir(), "opsctl-settings-"));
const asked: { url: string | undefined; secret: unknown }[] = [];
let proxy: Server;

beforeAll(async () => {
  proxy = createServer(({ url, headers }, response) => {
    asked.push({ url, secret: headers["x-webhook-secret"] });
    response.writeHead(401).end("{}");
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
});
afterAll(() => {
  proxy.close();
  rmSync(folder, { recursive: true });
});

function put(lines: readonly string[]): void {
  writeFileSync(join(folder, "webhook.env"), `${lines.join("\n")}\n`, { mode: 0o600 });
}

describe("opsctl webhook test", () => {
  test("calls through the file's proxy, with what the file's secrets command makes of the file's variables", async () => {
    const command = join(folder, "secrets-command");
    writeFileSync(command, '#!/bin/sh\n[ "$1" = WEBHOOK_SECRET ] && echo "$VAULT_PART-and-more"\n:\n');
    chmodSync(command, 0o700);
    put([
      `HTTP_PROXY=http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
      `OPSCTL_SECRETS_COMMAND=${command}`,
      "VAULT_PART=canary",
      "OPSCTL_ALLOW_PLAIN_HTTP=1",
      `OPSCTL_STATE_DIR=${folder}`,
      `OPSCTL_SECRETS_DIR=${folder}`,
    ]);
    asked.length = 0;
    const { stderr, exitCode } = await opsctl(
      ["webhook", "test", "--url", "http://alerts.example.invalid/webhook", "--wait", "1"],
      { env: { OPSCTL_ENV_DIR: folder } },
    );
    expect([exitCode, asked]).toEqual([
      1,
      [{ url: "http://alerts.example.invalid/webhook", secret: "canary-and-more" }],
    ]);
    expect(stderr).not.toContain("canary");
  });
});

describe("opsctl webhook dead list", () => {
  const list = (env: Record<string, string> = {}) =>
    opsctl(["webhook", "dead", "list"], { env: { OPSCTL_ENV_DIR: folder, ...env } });

  test("names what the runtime read before the file, and what the terminal hides", async () => {
    put([`OPSCTL_STATE_DIR=${folder}`, "NODE_EXTRA_CA_CERTS=/nonexistent", "MESSAGING_PHONE=1"]);
    const { stderr, exitCode } = await list({ MESSAGING_PHONE: "2" });
    expect(exitCode).toBe(0);
    expect(stderr).toContain('variables=["NODE_EXTRA_CA_CERTS"]');
    expect(stderr).toContain('variables=["MESSAGING_PHONE"]');
    const given = await list({ MESSAGING_PHONE: "1", NODE_EXTRA_CA_CERTS: "/nonexistent" });
    expect(given.stderr).not.toContain("variables=");
  });

  test("ends with 3 and names file and line when only a shell understands it", async () => {
    put(["A=1", "export MESSAGING_PHONE=canary"]);
    const { stderr, exitCode } = await list();
    expect([exitCode, stderr]).toEqual([3, expect.stringContaining("ENV_FILE_INVALID")]);
    expect(stderr).toContain(
      `${join(folder, "webhook.env")} code=ENV_FILE_INVALID\n  line 2 is not NAME=value`,
    );
    expect(stderr).not.toContain("canary");
  });
});

describe("a command that cron starts, by hand", () => {
  const lines = (...text: string[]) =>
    writeFileSync(join(folder, "weekly.env"), `${text.join("\n")}\n`, { mode: 0o600 });

  test("sees what cron sees, and names the file when something is missing there", async () => {
    lines("DATABASE_URL=postgres://u@127.0.0.1:1/db", "APP_BASE_URL=http://127.0.0.1:1");
    const { stderr, exitCode } = await opsctl(["weekly", "--dry-run", "--skip-email", "--skip-whatsapp"], {
      env: { OPSCTL_ENV_DIR: folder, OPSCTL_SECRETS_DIR: folder },
    });
    expect(exitCode).toBe(3);
    expect(stderr).toContain("TRIGGER_SECRET: is missing");
    expect(stderr).toContain("opsctl secret set TRIGGER_SECRET");
    expect(stderr).toContain(`or as a file of its name in ${folder} with mode 0600`);
    lines("DATABASE_URL=postgres://u@127.0.0.1:1/db", "TRIGGER_SECRET=canary");
    const plain = await opsctl(["weekly", "--dry-run", "--skip-email", "--skip-whatsapp"], {
      env: { OPSCTL_ENV_DIR: folder, OPSCTL_SECRETS_DIR: folder },
    });
    expect(plain.stderr).toContain(`Set it in ${join(folder, "weekly.env")}`);
    expect(stderr).not.toContain("APP_BASE_URL");
  });

  test("names in a dry run what has no effect in the file, and in no other command", async () => {
    const written = {
      WEEKLY_REPORT_UNSUBSCRIB: ", which nothing reads; did you mean WEEKLY_REPORT_UNSUBSCRIBE?",
      weekly_report_unsubscribe: ", which nothing reads; did you mean WEEKLY_REPORT_UNSUBSCRIBE?",
      OPSCTL_RETENTION_DAYS: ", which nothing reads: opsctl has no such setting there",
      TEXTFILE_DIR: ", which has no effect there: it is read in collect-metrics.env, socket-monitor.env",
    };
    // What belongs to other programs, a part of a setting's name, and what a command reads.
    const silent = [
      "VAULT_ADDR",
      "HTTPS_PROXY",
      "MAILTO",
      "NO_COLORS",
      "PING_URL",
      "API_KEY",
      "EMAIL_KEY",
      "EMAIL_API_KEY",
    ];
    lines(...[...Object.keys(written), ...silent].map((name) => `${name}=canary`));
    const env = { OPSCTL_ENV_DIR: folder, OPSCTL_SECRETS_DIR: folder };
    const dryRun = await opsctl(["weekly", "--dry-run"], { env });
    const told = dryRun.stderr.match(/(?<=The settings file sets ).*?(?= file=|",")/g);
    expect([...(told ?? [])]).toEqual(Object.entries(written).map(([name, what]) => name + what));
    expect(dryRun.stderr).not.toContain("canary");
    expect((await opsctl(["reports", "status"], { env })).stderr).not.toContain("UNSUBSCRIB");
  });

  test("names a variable that a secret's file overrules, wherever it is set", async () => {
    const secrets = mkdtempSync(join(folder, "secrets-"));
    writeFileSync(join(secrets, "DATABASE_URL"), "postgres://u:canary-1@127.0.0.1:1/db", { mode: 0o600 });
    const status = async (env: Record<string, string>) => {
      const { stderr } = await opsctl(["reports", "status"], {
        env: { OPSCTL_ENV_DIR: folder, OPSCTL_SECRETS_DIR: secrets, ...env },
      });
      expect(stderr).not.toContain("canary");
      return stderr;
    };
    lines("");
    const used = `used=${join(secrets, "DATABASE_URL")}`;
    expect(await status({ DATABASE_URL: "postgres://u:canary-2@127.0.0.1:1/db" })).toContain(
      `variable=DATABASE_URL from=environment ${used}`,
    );
    lines("DATABASE_URL=postgres://u:canary-2@127.0.0.1:1/db");
    expect(await status({})).toContain(`variable=DATABASE_URL from=${join(folder, "weekly.env")} ${used}`);
    lines("DATABASE_URL=postgres://u:canary-1@127.0.0.1:1/db");
    expect(await status({})).not.toContain("is not used");
  });

  test("reports the editorials' secret in the file, and does not use it", async () => {
    lines("SOCIAL_EDITORIALS_CRON_SECRET=canary", "SOCIAL_EDITORIALS_ENABLED=1");
    const { stderr } = await opsctl(["weekly", "--dry-run"], {
      env: { OPSCTL_ENV_DIR: folder, OPSCTL_SECRETS_DIR: folder },
    });
    expect(stderr).toContain(
      "SOCIAL_EDITORIALS_CRON_SECRET is set in the environment or in weekly.env and is not used",
    );
    expect(stderr).not.toContain("canary");
  });

  test("writes no metrics without a file and without a variable", async () => {
    const { stderr, exitCode } = await opsctl(["collect-metrics"], { env: { OPSCTL_ENV_DIR: folder } });
    expect([exitCode, stderr]).toEqual([3, expect.stringContaining("CONFIG_INVALID")]);
    expect(stderr).toContain(`${join(folder, "collect-metrics.env")} is not there`);
  });
});

describe("the settings file of a command", () => {
  const NOTED = "OPSCTL_LOG_LEVEL is not a level";

  test.each([
    ["webhook dead list", "webhook.env"],
    ["webhook test", "webhook.env"],
    ["alert-rules plan", "alert-rules.env"],
    ["weekly", "weekly.env"],
    ["reports status", "weekly.env"],
    ["migrate --status", "weekly.env"],
    ["collect-metrics", "collect-metrics.env"],
    ["socket-monitor", "socket-monitor.env"],
  ])("opsctl %s reads %s", async (words, name) => {
    const own = mkdtempSync(join(folder, "own-"));
    writeFileSync(join(own, name), "OPSCTL_LOG_LEVEL=loud\n", { mode: 0o600 });
    const said = async (OPSCTL_ENV_DIR: string) =>
      (await opsctl(words.split(" "), { env: { OPSCTL_ENV_DIR, OPSCTL_SECRETS_DIR: own } })).stderr;
    expect(await said(own)).toContain(NOTED);
    expect(await said("")).not.toContain(NOTED);
  });

  test("lies under the environment, which may be empty", async () => {
    put([`OPSCTL_STATE_DIR=${folder}`, "OPSCTL_LOG_LEVEL=loud"]);
    const list = async (OPSCTL_LOG_LEVEL: string) =>
      await opsctl(["webhook", "dead", "list"], { env: { OPSCTL_ENV_DIR: folder, OPSCTL_LOG_LEVEL } });
    expect((await list("warn")).stderr).not.toContain(NOTED);
    for (const empty of ["", " \t"]) expect((await list(empty)).stderr).toContain(NOTED);
  });

  const replaced = (make: (path: string) => void) => (path: string) => {
    rmSync(path);
    make(path);
  };
  test.each<[string, string, (path: string) => void]>([
    ["that others may read", "SECRET_FILE_EXPOSED", (path) => chmodSync(path, 0o640)],
    ["that others may write", "SECRET_FILE_EXPOSED", (path) => chmodSync(path, 0o602)],
    ["that is a directory", "SECRET_FILE_UNREADABLE", replaced(mkdirSync)],
    ["that is a link to itself", "SECRET_FILE_UNREADABLE", replaced((path) => symlinkSync(path, path))],
    ["that is too large", "SECRET_FILE_UNREADABLE", (path) => writeFileSync(path, "#".repeat(1_048_577))],
    [
      "that is no UTF-8 text",
      "SECRET_FILE_UNREADABLE",
      (path) => writeFileSync(path, Uint8Array.of(0x41, 0xff)),
    ],
    ["that is no settings", "ENV_FILE_INVALID", (path) => writeFileSync(path, "canary\n".repeat(60_000))],
  ])("is refused when it is one %s: %s", async (_what, code, change) => {
    const own = mkdtempSync(join(folder, "own-"));
    const path = join(own, "webhook.env");
    writeFileSync(path, "A=canary\n", { mode: 0o600 });
    change(path);
    const { exitCode, stderr } = await opsctl(["webhook", "dead", "list"], { env: { OPSCTL_ENV_DIR: own } });
    expect(exitCode).toBe(3);
    expect(stderr).toContain(`code=${code}`);
    expect(stderr).toContain(path);
    expect(stderr).not.toContain("canary");
    expect(stderr.split("\n").length).toBeLessThan(30);
  });

  requires("root").test("is refused when another account owns it", async () => {
    put(["A=canary"]);
    chownSync(join(folder, "webhook.env"), 64_001, 64_001);
    const { stderr } = await opsctl(["webhook", "dead", "list"], { env: { OPSCTL_ENV_DIR: folder } });
    expect(stderr).toContain("code=SECRET_FILE_UNTRUSTED");
    rmSync(join(folder, "webhook.env"));
  });

  test("may be a link to one", async () => {
    const own = mkdtempSync(join(folder, "own-"));
    writeFileSync(join(own, "real"), "OPSCTL_LOG_LEVEL=loud\n", { mode: 0o600 });
    symlinkSync("real", join(own, "webhook.env"));
    const { stderr } = await opsctl(["webhook", "dead", "list"], { env: { OPSCTL_ENV_DIR: own } });
    expect(stderr).toContain(NOTED);
  });

  test("has no effect under a relative directory, which is refused", async () => {
    const { exitCode, stderr } = await opsctl(["webhook", "dead", "list"], {
      env: { OPSCTL_ENV_DIR: "etc" },
    });
    expect([exitCode, stderr]).toEqual([3, expect.stringContaining("CONFIG_INVALID")]);
    const other = { OPSCTL_ENV_DIR: "", OPSCTL_WEBHOOK_ENV_FILE: "webhook.env" };
    const monitor = await opsctl(["socket-monitor"], { env: other });
    expect([monitor.exitCode, monitor.stderr]).toEqual([
      3,
      expect.stringContaining("is not an absolute path"),
    ]);
  });
});

describe("a relative OPSCTL_SECRETS_DIR", () => {
  const REFUSED = "Cannot start: OPSCTL_SECRETS_DIR is not an absolute path";
  const commands = [
    ["secret", "set", "WEBHOOK_SECRET"],
    ["secret", "list"],
    ["weekly", "--dry-run"],
    ["webhook", "dead", "list"],
    ["collect-metrics", "--stdout"],
    ["doctor", "weekly"],
    ["status"],
  ];
  test.each(commands.map((words) => [words]))("is refused by %j", async (words) => {
    const env = { OPSCTL_ENV_DIR: "", OPSCTL_SECRETS_DIR: "rel" };
    const { exitCode, stderr } = await opsctl(words, { env });
    expect([exitCode, stderr]).toEqual([3, expect.stringContaining(REFUSED)]);
    expect(stderr).toContain("CONFIG_INVALID");
    expect(existsSync("rel")).toBe(false);
  });

  test("is refused in an environment file", async () => {
    put(["OPSCTL_SECRETS_DIR=rel"]);
    const { exitCode, stderr } = await opsctl(["webhook", "dead", "list"], {
      env: { OPSCTL_ENV_DIR: folder },
    });
    expect([exitCode, stderr]).toEqual([3, expect.stringContaining(REFUSED)]);
  });
});
