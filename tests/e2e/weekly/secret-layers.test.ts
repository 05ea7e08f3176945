import { describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CANARIES } from "../../support/canaries.ts";
import { seedOwner } from "../../support/seed.ts";
import { type Fixture, openFixture } from "../support/fixture.ts";

/** Makes an executable that answers for every secret the way `script` says, and leaves no other source of them. */
function secretsCommand(fixture: Fixture, script: string): Record<string, string> {
  const path = join(fixture.folder, "vault-client");
  writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o700 });
  const empty = join(fixture.folder, "no-secrets");
  mkdirSync(empty);
  return { OPSCTL_SECRETS_COMMAND: path, OPSCTL_SECRETS_DIR: empty };
}

describe.concurrent("secrets of opsctl weekly", () => {
  test("secrets in a file that others may read are refused, whatever is in the environment", async () => {
    await using fixture = await openFixture();
    await seedOwner(fixture.db.sql);
    const path = join(fixture.secretsDir, "TRIGGER_SECRET");
    chmodSync(path, 0o644);

    const refused = await fixture.weekly(["--json"], {
      env: { TRIGGER_SECRET: CANARIES.TRIGGER_SECRET },
    });
    chmodSync(path, 0o400);
    const accepted = await fixture.weekly(["--json"]);

    expect(refused.exitCode).toBe(3);
    expect(refused.summary.error?.message).toContain("TRIGGER_SECRET");
    expect(refused.summary.error?.message).toContain("SECRET_FILE_EXPOSED");
    expect(refused.summary.error?.message).toContain("0644");
    expect(refused.stdout + refused.stderr).not.toContain(CANARIES.TRIGGER_SECRET);
    expect(accepted.exitCode, accepted.stdout).toBe(0);
  });

  test("come from the vault's own client when it has them", async () => {
    await using fixture = await openFixture({ editorials: true });
    await seedOwner(fixture.db.sql);
    const env = secretsCommand(
      fixture,
      `[ $# = 1 ] || exit 9; echo "canary of the vault's log" >&2; cat "${fixture.secretsDir}/$1"`,
    );

    const ended = await fixture.weekly(["--json"], { env });

    expect(ended.exitCode, ended.stdout).toBe(0);
    expect(ended.summary).toMatchObject({ whatsapp: { sent: 1 }, editorials: { status: "completed" } });
    expect(ended.stdout + ended.stderr).not.toContain("canary");
  });
});

describe.concurrent("the layers of secrets", () => {
  test("begin with systemd's credentials, then the secrets directory, then the environment", async () => {
    await using fixture = await openFixture();
    await seedOwner(fixture.db.sql);
    const credentials = join(fixture.folder, "credentials");
    mkdirSync(credentials);
    const inCredentials = join(credentials, "TRIGGER_SECRET");
    const env = { CREDENTIALS_DIRECTORY: credentials, TRIGGER_SECRET: "canary-of-the-environment" };
    const bearer = () => fixture.application.routes.analysis.calls.at(-1)?.headers.authorization;

    writeFileSync(inCredentials, "canary-of-systemd\n", { mode: 0o400 });
    const first = await fixture.weekly(["--json"], { env });
    expect(first.summary.error?.code).toBe("APP_HTTP_401");
    expect(bearer()).toBe("Bearer canary-of-systemd");
    rmSync(inCredentials);
    const second = await fixture.weekly(["--json"], { env });
    expect(second.exitCode, second.stdout).toBe(0);
    expect(bearer()).toBe(`Bearer ${CANARIES.TRIGGER_SECRET}`);
    await seedOwner(fixture.db.sql);
    rmSync(join(fixture.secretsDir, "TRIGGER_SECRET"));
    const third = await fixture.weekly(["--json"], { env });
    expect(third.summary.error?.code).toBe("APP_HTTP_401");
    expect(bearer()).toBe("Bearer canary-of-the-environment");
    for (const { stdout, stderr } of [first, second, third]) expect(stdout + stderr).not.toContain("canary");
  });

  test("end with a client that fails: neither its words nor an older value are used", async () => {
    await using fixture = await openFixture();
    const env = secretsCommand(fixture, 'echo "canary-half-a-secret"; echo "canary: denied" >&2; exit 4');
    const ended = await fixture.weekly(["--json"], { env: { ...env, ...CANARIES } });
    expect(ended.exitCode).toBe(3);
    expect(ended.summary.error?.message).toContain("SECRET_COMMAND_FAILED");
    expect(ended.summary.error?.message).toContain("status 4");
    expect(ended.stdout + ended.stderr).not.toContain("canary");
    expect(fixture.requests()).toEqual([]);
  });

  test("end with a client that is not one executable: no shell reads it", async () => {
    await using fixture = await openFixture();
    const { OPSCTL_SECRETS_COMMAND, ...env } = secretsCommand(fixture, 'cat "/nowhere/$1"');
    const witness = join(fixture.folder, "witness");
    for (const command of [`${OPSCTL_SECRETS_COMMAND}; touch ${witness}`, "vault-client", fixture.folder]) {
      const ended = await fixture.weekly(["--json"], { env: { ...env, OPSCTL_SECRETS_COMMAND: command } });
      expect(ended.exitCode).toBe(3);
      expect(ended.summary.error?.message).toContain("SECRET_COMMAND_FAILED");
    }
    expect(await Bun.file(witness).exists()).toBe(false);
  });
});
