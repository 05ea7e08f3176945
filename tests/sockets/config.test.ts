import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadSocketMonitorConfig } from "../../lib/sockets/config.ts";

const KEY = "canary-file-key-0123456789";
let folder: string;
let env: Record<string, string>;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "opsctl-sockets-"));
  mkdirSync(join(folder, "secrets"));
  env = { OPSCTL_WEBHOOK_ENV_FILE: join(folder, "webhook.env"), OPSCTL_SECRETS_DIR: join(folder, "secrets") };
});
afterEach(() => rmSync(folder, { recursive: true }));

function writeEnv(lines: string[], mode = 0o600): void {
  writeFileSync(join(folder, "webhook.env"), lines.join("\n"));
  chmodSync(join(folder, "webhook.env"), mode);
}

const URL_LINE = "MESSAGING_API_URL=https://gateway.example.com/";
const KEY_LINE = `MESSAGING_API_KEY='${KEY}'`;
const PHONE_LINE = 'MESSAGING_PHONE="+55 (11) 98765-4321"';

describe("loadSocketMonitorConfig()", () => {
  test("reads the messaging settings last in the webhook's file", async () => {
    writeEnv([
      URL_LINE,
      KEY_LINE,
      PHONE_LINE,
      "MESSAGING_INSTANCE=ops",
      "WEBHOOK_SECRET=x",
      "OPSCTL_LOG_DIR=/nowhere",
    ]);
    const config = await loadSocketMonitorConfig({ ...env, MESSAGING_PHONE: "5521999999999" });
    expect(config.MESSAGING_API_KEY.open()).toBe(KEY);
    expect({ ...config, MESSAGING_API_KEY: null }).toMatchObject({
      MESSAGING_API_URL: "https://gateway.example.com",
      MESSAGING_PHONE: "5521999999999",
      MESSAGING_INSTANCE: "ops",
      OPSCTL_LOG_DIR: "/var/log/opsctl",
      TEXTFILE_DIR: "/var/lib/node_exporter/textfile_collector",
      SOCKET_THRESHOLD: 10_000,
    });
  });

  test("takes the secret's file before a key in the webhook's file, as the webhook does", async () => {
    writeEnv([URL_LINE, KEY_LINE]);
    writeFileSync(join(folder, "secrets/MESSAGING_API_KEY"), "adapter-key\n", { mode: 0o600 });
    const config = await loadSocketMonitorConfig({ ...env, MESSAGING_PHONE: "5511987654321" });
    expect(config.MESSAGING_API_KEY.open()).toBe("adapter-key");
    expect(config.MESSAGING_PHONE).toBe("5511987654321");
  });

  test("needs no file when the rest has everything", async () => {
    const rest = {
      MESSAGING_API_URL: "http://127.0.0.1:1",
      MESSAGING_API_KEY: "k-0123",
      MESSAGING_PHONE: "5511987654321",
    };
    expect((await loadSocketMonitorConfig({ ...env, ...rest })).MESSAGING_API_KEY.open()).toBe("k-0123");
  });

  test("takes the permission for plain HTTP from the file too", async () => {
    const lines = ["MESSAGING_API_URL=http://gateway.example.com", KEY_LINE, PHONE_LINE];
    writeEnv(lines);
    await expect(loadSocketMonitorConfig(env)).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    writeEnv([...lines, "OPSCTL_ALLOW_PLAIN_HTTP=1"]);
    expect((await loadSocketMonitorConfig(env)).MESSAGING_API_URL).toBe("http://gateway.example.com");
  });

  test("names every problem and the file, and no value", async () => {
    writeEnv(["MESSAGING_API_URL=ftp://x", `MESSAGING_API_KEY=${KEY}ö`, "MESSAGING_PHONE=call me 0199"]);
    const error = await loadSocketMonitorConfig(env).catch((error) => error);
    expect(error.code).toBe("CONFIG_INVALID");
    for (const name of ["MESSAGING_API_URL", "MESSAGING_API_KEY", "MESSAGING_PHONE"])
      expect(error.message).toContain(name);
    expect(`${error.message}${error.hint}`).not.toMatch(/canary|ftp|0199/);
    expect(error.hint).toContain(join(folder, "webhook.env"));
  });

  test("names a line that cannot be read, where a setting that is missing may be in it", async () => {
    writeEnv([URL_LINE, KEY_LINE, "MESSAGING_PHONE 5511987654321"]);
    await expect(loadSocketMonitorConfig(env)).rejects.toMatchObject({
      code: "ENV_FILE_INVALID",
      message: `Cannot read the settings of opsctl socket-monitor: file ${join(folder, "webhook.env")}\n  line 3 is not NAME=value`,
    });
    writeEnv([URL_LINE, KEY_LINE, PHONE_LINE, "no setting"]);
    expect((await loadSocketMonitorConfig(env)).MESSAGING_API_KEY.open()).toBe(KEY);
  });

  test.each([0o644, 0o640, 0o604, 0o620])("refuses a file of mode %o", async (mode) => {
    writeEnv([URL_LINE, KEY_LINE, PHONE_LINE], mode);
    const error = await loadSocketMonitorConfig(env).catch((error) => error);
    expect(error).toMatchObject({
      code: "SECRET_FILE_EXPOSED",
      message: expect.stringContaining("webhook.env"),
    });
  });

  test("refuses what is no file of text", async () => {
    mkdirSync(join(folder, "webhook.env"));
    await expect(loadSocketMonitorConfig(env)).rejects.toMatchObject({ code: "SECRET_FILE_UNREADABLE" });
    rmSync(join(folder, "webhook.env"), { recursive: true });
    writeFileSync(join(folder, "webhook.env"), new Uint8Array([0x41, 0x3d, 0xff, 0xfe]), { mode: 0o600 });
    await expect(loadSocketMonitorConfig(env)).rejects.toMatchObject({ code: "SECRET_FILE_UNREADABLE" });
  });
});
