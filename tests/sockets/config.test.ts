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

  test("takes the permission for plain HTTP from the file too", async () => {
    const lines = ["MESSAGING_API_URL=http://gateway.example.com", KEY_LINE, PHONE_LINE];
    writeEnv(lines);
    await expect(loadSocketMonitorConfig(env)).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    writeEnv([...lines, "OPSCTL_ALLOW_PLAIN_HTTP=1"]);
    expect((await loadSocketMonitorConfig(env)).MESSAGING_API_URL).toBe("http://gateway.example.com");
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
});
