import { describe, expect, test } from "bun:test";
import { envDirOption, withDirectories } from "../../../../lib/platform/config/env-files/with-directories.ts";

const STAGING = { OPSCTL_ENV_DIR: "/etc/opsctl/staging" };

describe("withDirectories()", () => {
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
  ])("finds the settings of %s", (line, expected) => expect(withDirectories(line, STAGING)).toBe(expected));

  test.each([{}, { OPSCTL_ENV_DIR: "/etc/opsctl" }])("changes nothing where %p finds them", (env) =>
    expect(withDirectories("sudo opsctl status", env)).toBe("sudo opsctl status"),
  );

  test("carries on that no file is read; doctor reads the installed ones then", () => {
    const env = { OPSCTL_ENV_DIR: "" };
    expect(withDirectories("sudo opsctl weekly --dry-run", env)).toBe(
      "sudo OPSCTL_ENV_DIR= opsctl weekly --dry-run",
    );
    expect(withDirectories("sudo opsctl doctor weekly", env)).toBe("sudo opsctl doctor weekly");
  });

  test("carries on where the secrets are, to every command", () => {
    const env = { OPSCTL_SECRETS_DIR: " /srv/opsctl/secrets", ...STAGING };
    expect(withDirectories("sudo opsctl weekly", env)).toBe(
      "sudo OPSCTL_SECRETS_DIR=/srv/opsctl/secrets OPSCTL_ENV_DIR=/etc/opsctl/staging opsctl weekly",
    );
    expect(withDirectories("sudo opsctl doctor weekly", env)).toBe(
      "sudo OPSCTL_SECRETS_DIR=/srv/opsctl/secrets opsctl doctor weekly --env-dir /etc/opsctl/staging",
    );
    expect(withDirectories("sudo opsctl status", { OPSCTL_SECRETS_DIR: " " })).toBe("sudo opsctl status");
  });

  test("puts a directory that a shell would read into quotes", () => {
    const env = { OPSCTL_ENV_DIR: "/srv/it's $(id)" };
    expect(withDirectories("sudo opsctl status", env)).toBe(
      "sudo OPSCTL_ENV_DIR='/srv/it'\\''s $(id)' opsctl status",
    );
    expect(envDirOption(env.OPSCTL_ENV_DIR)).toBe(" --env-dir '/srv/it'\\''s $(id)'");
  });
});
