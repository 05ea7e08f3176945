/** What a command makes of the settings file that it reads itself, beyond its own settings. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ENGINES, opsctl } from "../support/opsctl.ts";

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

describe.each(ENGINES)("opsctl webhook test on %s", (runtime) => {
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
      { runtime, env: { OPSCTL_ENV_DIR: folder } },
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

  test("takes the level of its log from the file", async () => {
    put([`OPSCTL_STATE_DIR=${folder}`, "OPSCTL_LOG_LEVEL=error", "MESSAGING_PHONE=1"]);
    expect((await list({ MESSAGING_PHONE: "2" })).stderr).toBe("");
  });

  test("ends with 3 and names file and line when only a shell understands it", async () => {
    put(["A=1", "export MESSAGING_PHONE=canary"]);
    const { stderr, exitCode } = await list();
    expect([exitCode, stderr]).toEqual([3, expect.stringContaining("ENV_FILE_INVALID")]);
    expect(stderr).toContain(
      `${join(folder, "webhook.env")} code=ENV_FILE_INVALID\n  line 2 begins with export`,
    );
    expect(stderr).not.toContain("canary");
  });
});

describe.each(ENGINES)("a command that cron starts, by hand on %s", (runtime) => {
  const lines = (...text: string[]) =>
    writeFileSync(join(folder, "weekly.env"), `${text.join("\n")}\n`, { mode: 0o600 });

  test("sees what cron sees, and names the file when something is missing there", async () => {
    lines("DATABASE_URL=postgres://u@127.0.0.1:1/db", "APP_BASE_URL=http://127.0.0.1:1");
    const { stderr, exitCode } = await opsctl(["weekly", "--dry-run", "--skip-email", "--skip-whatsapp"], {
      runtime,
      env: { OPSCTL_ENV_DIR: folder, OPSCTL_SECRETS_DIR: folder },
    });
    expect(exitCode).toBe(3);
    expect(stderr).toContain("TRIGGER_SECRET: is missing");
    expect(stderr).toContain("a secret: opsctl secret set TRIGGER_SECRET");
    expect(stderr).toContain(`or as a file of its name in ${folder} with mode 0600`);
    lines("DATABASE_URL=postgres://u@127.0.0.1:1/db", "TRIGGER_SECRET=canary");
    const plain = await opsctl(["weekly", "--dry-run", "--skip-email", "--skip-whatsapp"], {
      runtime,
      env: { OPSCTL_ENV_DIR: folder, OPSCTL_SECRETS_DIR: folder },
    });
    expect(plain.stderr).toContain(`Set it in ${join(folder, "weekly.env")}`);
    expect(stderr).not.toContain("APP_BASE_URL");
  });

  // What the sources make of the settings is the same on each engine.
  if (runtime !== "binary") return;

  test("names in a dry run what has no effect in the file, and in no other command", async () => {
    lines("WEEKLY_REPORT_UNSUBSCRIB=mailto:canary@example.com", "VAULT_ADDR=x", "TEXTFILE_DIR=/canary");
    const env = { OPSCTL_ENV_DIR: folder, OPSCTL_SECRETS_DIR: folder };
    const dryRun = await opsctl(["weekly", "--dry-run", "--log-format", "text"], { runtime, env });
    expect(dryRun.stderr).toContain(
      `The settings file sets WEEKLY_REPORT_UNSUBSCRIB, which nothing reads; did you mean WEEKLY_REPORT_UNSUBSCRIBE? file=${join(folder, "weekly.env")}`,
    );
    expect(dryRun.stderr).toContain("sets TEXTFILE_DIR, which has no effect there");
    expect(dryRun.stderr).not.toMatch(/canary|VAULT/);
    expect((await opsctl(["reports", "status"], { runtime, env })).stderr).not.toContain("UNSUBSCRIB");
  });

  test("names a variable that a secret's file overrules, wherever it is set", async () => {
    const secrets = mkdtempSync(join(folder, "secrets-"));
    writeFileSync(join(secrets, "DATABASE_URL"), "postgres://u:canary-1@127.0.0.1:1/db", { mode: 0o600 });
    const status = async (env: Record<string, string>) => {
      const { stderr } = await opsctl(["reports", "status"], {
        runtime,
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
      runtime,
      env: { OPSCTL_ENV_DIR: folder, OPSCTL_SECRETS_DIR: folder },
    });
    expect(stderr).toContain(
      "SOCIAL_EDITORIALS_CRON_SECRET is set in the environment or in weekly.env and is not used",
    );
    expect(stderr).not.toContain("canary");
  });

  test("writes no metrics without a file and without a variable", async () => {
    const { stderr, exitCode } = await opsctl(["collect-metrics"], {
      runtime,
      env: { OPSCTL_ENV_DIR: folder },
    });
    expect([exitCode, stderr]).toEqual([3, expect.stringContaining("CONFIG_INVALID")]);
    expect(stderr).toContain(`${join(folder, "collect-metrics.env")} is not there`);
  });
});
