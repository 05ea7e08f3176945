/** `opsctl doctor` as a process of its own. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Finding } from "../../../lib/doctor/context.ts";
import { startSilentPeer } from "../../standins/raw-peer.ts";
import { CANARIES } from "../../support/canaries.ts";
import { databaseSnapshot } from "../../support/database-snapshot.ts";
import { PASSWORD } from "../../support/postgres.ts";
import { seedOwner } from "../../support/seed.ts";
import { type Fixture, openFixture } from "../support/fixture.ts";
import { opsctl } from "../support/opsctl.ts";

let fixture: Fixture;
let envDir: string;

beforeAll(async () => {
  fixture = await openFixture();
  await seedOwner(fixture.db.sql, { phone: "+55 (11) 98765-4321", email: "ana.maria@client.example" });
  envDir = join(fixture.folder, "etc");
  mkdirSync(envDir);
  writeFileSync(join(envDir, "weekly.env"), settingsOf(fixture), { mode: 0o600 });
  utimesSync(fixture.heartbeat.path, new Date(), new Date());
});
afterAll(async () => await fixture[Symbol.asyncDispose]());

function settingsOf({ env }: Fixture): string {
  return Object.entries(env)
    .filter(([name]) => name !== "OPSCTL_SECRETS_DIR")
    .map(([name, value]) => `${name}='${value}'\n`)
    .join("");
}

/** With nothing in its own environment but where the secrets are, as on a terminal. */
function doctor(args: string[], more = {}) {
  const env = { OPSCTL_SECRETS_DIR: fixture.secretsDir, ...more };
  return opsctl(["doctor", ...args, "--env-dir", envDir], { env });
}

const ALL = /^ {2}opsctl doctor --all --env-dir \S+$/;

const findingsOf = (json: Record<string, unknown>) => json.findings as Finding[];

describe("opsctl doctor", () => {
  test("reads the command's own environment file", async () => {
    const before = await databaseSnapshot(fixture.db.sql);
    const { exitCode, json, stdout, stderr } = await doctor(["weekly", "--json"]);
    expect(findingsOf(json).filter(({ status }) => status === "fail")).toEqual([]);
    expect(exitCode).toBe(0);
    expect(Object.keys(json).sort()).toEqual(["command", "error", "exitCode", "findings", "status"]);
    expect(json).toMatchObject({ command: "doctor", status: "success", exitCode: 0, error: null });
    for (const { because, ...finding } of findingsOf(json)) {
      expect(Object.keys(finding).sort()).toEqual(["check", "code", "command", "fix", "reason", "status"]);
      expect(because === "not_checked").toBe(finding.reason.startsWith("not checked: "));
    }
    expect(stderr).toBe("");
    for (const secret of [...Object.values(CANARIES), PASSWORD, "98765", "ana.maria"])
      expect(stdout).not.toContain(secret);
    expect(await databaseSnapshot(fixture.db.sql)).toEqual(before);
    const asked = fixture.application.ledger.filter(({ method, path }) => `${method} ${path}` !== "GET /");
    expect([fixture.gateway.accepted, fixture.email.accepted, asked]).toEqual([[], [], []]);
  });

  test("lets the environment of the process win over the file", async () => {
    const { exitCode, json } = await doctor(["weekly", "--json"], {
      APP_BASE_URL: "ftp://elsewhere",
    });
    expect(exitCode).toBe(3);
    expect(json).toMatchObject({ status: "not_ready", exitCode: 3, error: null });
    expect(findingsOf(json)).toContainEqual(
      expect.objectContaining({
        check: "configuration",
        status: "fail",
        reason: expect.stringContaining("APP_BASE_URL is not an http or https URL"),
      }),
    );
  });

  test("shows people what is wrong and how to fix it", async () => {
    const { exitCode, stdout } = await doctor(["alert-rules"]);
    expect(exitCode).toBe(3);
    expect(stdout).toStartWith("alert-rules\n  FAIL  configuration: MONITORING_URL is missing");
    expect(stdout).toContain(`        -> Set MONITORING_URL in ${envDir}/alert-rules.env\n`);
    expect(stdout).toMatch(/\n\d+ ok, \d+ warn, \d+ FAIL\n$/);
    expect(stdout).not.toContain("\x1b");
  });

  test("ends although gateway and database hang, and says which", async () => {
    const database = await startSilentPeer();
    for (const route of Object.values(fixture.gateway.routes)) route.script = () => "hang";
    const secretsDir = join(fixture.folder, "other-secrets");
    cpSync(fixture.secretsDir, secretsDir, { recursive: true });
    writeFileSync(
      join(secretsDir, "DATABASE_URL"),
      `postgres://u:${PASSWORD}@127.0.0.1:${database.port}/app`,
    );
    const { exitCode, json, stdout } = await doctor(["weekly", "--json"], { OPSCTL_SECRETS_DIR: secretsDir });
    const failed = findingsOf(json).filter(({ status }) => status === "fail");
    const lost = ["database", "database schema", "messaging gateway"];
    const behindThem = ["whatsapp sender", "e-mail sender", "recipients", "status"];
    expect(failed.map(({ check, code }) => [check, code])).toEqual(
      [...lost, ...behindThem].map((check) => [check, "CHECK_TIMED_OUT"]),
    );
    expect(exitCode).toBe(3);
    expect(stdout).not.toContain(PASSWORD);
    for (const route of Object.values(fixture.gateway.routes)) route.script = null;
    await database.stop();
  });

  test("looks at every command when none is named", async () => {
    const env = { MESSAGING_API_URL: "http://127.0.0.1:1" };
    const [{ json, exitCode }, bare, all] = await Promise.all([
      doctor(["--json"], env),
      doctor([], env),
      doctor(["--all"], env),
    ]);
    const commands = new Set(findingsOf(json).map(({ command }) => command));
    expect([...commands]).toHaveLength(8);
    expect([exitCode, bare.exitCode, all.exitCode]).toEqual([3, 3, 3]);
    // A line for each command and the one next step, or everything.
    const lines = bare.stdout.split("\n");
    expect(lines.slice(0, 8).map((line) => line.trim().split(/\s+/)[1] ?? "")).toEqual([...commands]);
    expect(lines.slice(8)).toEqual([
      "",
      "Next, for webhook:",
      expect.stringContaining("  "),
      "",
      "All findings:",
      expect.stringMatching(ALL),
      "",
    ]);
    expect(all.stdout).toMatch(/^weekly\n {2}ok {4}configuration: /);
    expect(all.stdout.split("\n").length).toBeGreaterThan(findingsOf(json).length);
  });

  test("finds no fault in what this host does not use, unless it is named", async () => {
    const [bare, named] = await Promise.all([doctor([]), doctor(["webhook"])]);
    expect(bare.stdout).toMatch(/^ {2}- {5}webhook +not set up$/m);
    expect([bare.exitCode, named.exitCode]).toEqual([0, 3]);
  });

  test("refuses a command that there is not", async () => {
    const { exitCode, stdout, stderr } = await opsctl(["doctor", "nope", "--json"]);
    expect([exitCode, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("argument <command> expects one of weekly, webhook, collect-metrics");
  });
});
