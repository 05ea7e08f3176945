/** The login for migrations that root keeps for itself: doctor checks that one, not the weekly run's. */
import { describe, expect, test } from "bun:test";
import type { DatabaseLogin } from "../../lib/platform/config/owner-login.ts";
import { OpsError } from "../../lib/platform/errors.ts";
import { Secret } from "../../lib/platform/secrets/secret.ts";
import { refusedPort } from "../standins/raw-peer.ts";
import { ofCheck, openHost } from "./support/host.ts";

const VARIABLE = "MIGRATE_DATABASE_URL";
const SOURCE = "secret file /etc/opsctl/root-secrets/MIGRATE_DATABASE_URL";
const found = (url: string): DatabaseLogin => ({
  ...{ url: new Secret(url), variable: VARIABLE, source: SOURCE, overrules: false },
});
const failed = new OpsError({
  ...{ code: "SECRET_FILE_EXPOSED", message: "Cannot use secret X: it is open", hint: "chmod 0600 /x" },
});

describe("runDoctor() of migrate", () => {
  test("connects with the login that root has read", async () => {
    await using host = await openHost();
    const { url } = host.db;
    host.put("secrets/DATABASE_URL", "postgres://u:secret-of-the-url@127.0.0.1:1/app");
    host.dependencies.rootsLogin = found(url);
    host.dependencies.nowMs = () => Date.now();
    const findings = await host.examine("migrate");
    expect(findings.filter(({ status }) => status !== "pass")).toEqual([]);
    expect(ofCheck(findings, "secrets")[0]).toEqual({
      status: "pass",
      reason: `${VARIABLE} comes from ${SOURCE}`,
    });
    expect(JSON.stringify(findings)).not.toContain(url);
  });

  test("names the variable of that login when it does not work", async () => {
    await using host = await openHost();
    host.dependencies.rootsLogin = found(`postgres://o:p@127.0.0.1:${await refusedPort()}/app`);
    const findings = await host.examine("migrate");
    expect(findings.find(({ check }) => check === "database")).toMatchObject({
      status: "fail",
      fix: { text: `Check host, port and sslmode in ${VARIABLE} and that the server accepts connections` },
    });
    expect(ofCheck(findings, "migrations")).toMatchObject([
      { status: "warn", reason: "not checked: the database cannot be opened, see database" },
    ]);
  });

  test("names what the account's settings have beside it", async () => {
    await using host = await openHost();
    host.dependencies.rootsLogin = found(host.db.url);
    host.setting("weekly", VARIABLE, "postgres://other@127.0.0.1:1/app");
    const secrets = ofCheck(await host.examine("migrate"), "secrets");
    expect(secrets.map(({ status }) => status)).toEqual(["pass", "warn"]);
    expect(secrets[1]?.reason).toMatch(/^MIGRATE_DATABASE_URL in \S+\/weekly\.env is not used$/);
  });

  test("says why root's own secret cannot be used, and does not fall back on the other login", async () => {
    await using host = await openHost();
    host.dependencies.rootsLogin = failed;
    const findings = await host.examine("migrate");
    expect(ofCheck(findings, "secrets")[0]).toMatchObject({
      status: "fail",
      reason: "Cannot use secret X: it is open",
    });
    expect(ofCheck(findings, "configuration")[0]).toMatchObject({ status: "fail" });
    expect(ofCheck(findings, "database")[0]).toMatchObject({
      reason: expect.stringContaining("not checked: "),
    });
  });

  test("finds the owner's login where the account may have it", async () => {
    await using host = await openHost();
    host.put("secrets/DATABASE_URL", "postgres://u:secret-of-the-url@127.0.0.1:1/app");
    host.put(`secrets/${VARIABLE}`, host.db.url);
    const findings = await host.examine("migrate");
    expect(ofCheck(findings, "database")[0]).toMatchObject({ status: "pass" });
  });
});
