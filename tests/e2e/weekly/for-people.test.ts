import { describe, expect, test } from "bun:test";
import { type SeededOwner, seedOwner } from "../../support/seed.ts";
import { openFixture } from "../support/fixture.ts";
import { opsctl } from "../support/opsctl.ts";

/** Lines as a person reads them, without the space that lines columns up. */
function linesOf(text: string): string[] {
  return text.split("\n").map((line) => line.trim().replace(/\s+/g, " "));
}

describe.concurrent("the words of opsctl weekly for a person", () => {
  test("name what failed, how often, for whom, and what repairs it", async () => {
    await using fixture = await openFixture();
    const owners: SeededOwner[] = [];
    for (let i = 0; i < 5; i += 1) owners.push(await seedOwner(fixture.db.sql, { phone: null }));
    fixture.email.routes.send.next({ accept: "drop" });

    const { exitCode, stdout } = await fixture.weekly(["--concurrency", "1"]);

    expect(exitCode).toBe(1);
    const lines = linesOf(stdout);
    expect(lines[0]).toMatch(/^The weekly run FAILED, week of 2026-11-16 /);
    expect(lines).toContain("WhatsApp 5 failed");
    expect(lines).toContain("E-mail 4 sent, 1 unknown");
    expect(lines).toContain("Heartbeat kept");
    expect(lines).toContain("whatsapp: recipient_phone_missing (5)");
    expect(lines).toContain("-> enter the owner's phone in users.phone, then run again");
    expect(lines).toContain("email: email_connection_lost");
    expect(lines.some((line) => line.includes("opsctl deliveries"))).toBe(true);
    expect(
      lines.filter((line) => owners.some(({ tenantId }) => line.includes(tenantId))).length,
    ).toBeGreaterThan(0);
    expect(lines).toContain(
      "What failed can be tried again until 2026-11-24 00:00:00 (São Paulo): opsctl weekly",
    );
    expect(stdout).toEndWith("\n");
    expect(stdout).not.toEndWith("\n\n");
  });

  test("name every setting that is missing", async () => {
    const { exitCode, stdout, stderr } = await opsctl(["weekly"]);
    expect(exitCode).toBe(3);
    for (const name of ["DATABASE_URL", "APP_BASE_URL", "TRIGGER_SECRET", "GATEWAY_ADMIN_KEY"]) {
      expect(stdout + stderr).toContain(name);
    }
  });

  test("promise no second try where nothing has begun", async () => {
    await using fixture = await openFixture();
    const { exitCode, stdout } = await fixture.weekly(["--tenant", "3f2b8c1e-5d47-4a90-9c36-0e1f2a3b4c5d"]);
    expect(exitCode).toBe(3);
    const lines = linesOf(stdout);
    expect(lines[0]).toStartWith("NOT READY: nothing was written or sent");
    expect(lines).toContain("scope: TENANT_NOT_ELIGIBLE");
    expect(stdout).not.toMatch(/tried again|Reports|Heartbeat/);
  });

  test("contain no control characters, whatever a name in the database contains", async () => {
    await using fixture = await openFixture();
    await seedOwner(fixture.db.sql, { tenantName: "\u001b[2J\u001b]0;title\u0007" });
    const { stdout, stderr } = await fixture.weekly([], {
      env: { FORCE_COLOR: "1", OPSCTL_LOG_LEVEL: "debug" },
    });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    expect(stdout + stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f]/);
  });
});
