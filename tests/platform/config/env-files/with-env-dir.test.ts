import { describe, expect, test } from "bun:test";
import { envDirOption, withEnvDir } from "../../../../lib/platform/config/env-files/with-env-dir.ts";

const STAGING = { OPSCTL_ENV_DIR: "/etc/opsctl/staging" };

describe("withEnvDir()", () => {
  test.each([
    ["sudo opsctl status", "sudo OPSCTL_ENV_DIR=/etc/opsctl/staging opsctl status"],
    ["sudo opsctl doctor weekly", "sudo opsctl doctor weekly --env-dir /etc/opsctl/staging"],
    ["sudo opsctl doctor", "sudo opsctl doctor --env-dir /etc/opsctl/staging"],
    [
      "In detail: sudo opsctl doctor --all",
      "In detail: sudo opsctl doctor --all --env-dir /etc/opsctl/staging",
    ],
    [
      "sudo opsctl doctor socket-monitor, then sudo opsctl weekly",
      "sudo opsctl doctor socket-monitor --env-dir /etc/opsctl/staging, then sudo OPSCTL_ENV_DIR=/etc/opsctl/staging opsctl weekly",
    ],
    ["sudo systemctl start opsctl-webhook.service", "sudo systemctl start opsctl-webhook.service"],
    ["opsctl doctor weekly", "opsctl doctor weekly"],
  ])("finds the settings of %s", (line, expected) => expect(withEnvDir(line, STAGING)).toBe(expected));

  test.each([{}, { OPSCTL_ENV_DIR: "/etc/opsctl" }])("changes nothing where %p finds them", (env) =>
    expect(withEnvDir("sudo opsctl status", env)).toBe("sudo opsctl status"),
  );

  test("carries on that no file is read; doctor reads the installed ones then", () => {
    const env = { OPSCTL_ENV_DIR: "" };
    expect(withEnvDir("sudo opsctl weekly --dry-run", env)).toBe(
      "sudo OPSCTL_ENV_DIR= opsctl weekly --dry-run",
    );
    expect(withEnvDir("sudo opsctl doctor weekly", env)).toBe("sudo opsctl doctor weekly");
  });

  test("puts a directory that a shell would read into quotes", () => {
    const env = { OPSCTL_ENV_DIR: "/srv/it's $(id)" };
    expect(withEnvDir("sudo opsctl status", env)).toBe(
      "sudo OPSCTL_ENV_DIR='/srv/it'\\''s $(id)' opsctl status",
    );
    expect(envDirOption(env.OPSCTL_ENV_DIR)).toBe(" --env-dir '/srv/it'\\''s $(id)'");
  });
});
