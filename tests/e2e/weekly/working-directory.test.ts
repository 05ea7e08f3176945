import { describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { seedOwner } from "../../support/seed.ts";
import { type Fixture, openFixture } from "../support/fixture.ts";

/** A folder as a stranger, or a careless person, may have left it. */
function hostileFolder(fixture: Fixture): string {
  const folder = join(fixture.folder, "somebody's project");
  mkdirSync(folder);
  const elsewhere = join(fixture.folder, "elsewhere");
  const variables = [
    "SOCIAL_EDITORIALS_ENABLED=1",
    "SOCIAL_EDITORIALS_MAX_LLM_CALLS=7",
    "OPSCTL_LOG_LEVEL=debug",
    `CREDENTIALS_DIRECTORY=${elsewhere}`,
    "TRIGGER_SECRET=from-a-file",
    "TZ=Pacific/Kiritimati",
  ];
  for (const name of [".env", ".env.local", ".env.production", ".env.development", ".env.test"]) {
    writeFileSync(join(folder, name), `${variables.join("\n")}\n`);
  }
  mkdirSync(elsewhere);
  writeFileSync(join(elsewhere, "TRIGGER_SECRET"), "from-elsewhere", { mode: 0o600 });
  writeFileSync(join(folder, "bunfig.toml"), 'preload = ["./preload.ts"]\nlogLevel = "debug"\n');
  const preload = `console.log("preloaded"); console.error("preloaded"); process.exit(7);`;
  writeFileSync(join(folder, "preload.ts"), preload);
  writeFileSync(join(folder, "package.json"), '{"name": "opsctl", "version": "9.9.9", "type": "commonjs"}');
  writeFileSync(join(folder, "tsconfig.json"), "{ not json");
  writeFileSync(join(folder, "deno.json"), "{ not json");
  return folder;
}

describe.concurrent("the working directory of the binary", () => {
  test("gives it neither variables nor code", async () => {
    await using fixture = await openFixture();
    await seedOwner(fixture.db.sql);
    const cwd = hostileFolder(fixture);

    const run = await fixture.weekly(["--json"], { cwd });

    expect(run.exitCode, run.stderr).toBe(0);
    expect(run.summary).toMatchObject({ status: "success", editorials: { status: "disabled" } });
    expect(run.stdout + run.stderr).not.toContain("preloaded");
    expect(run.stderr).not.toContain('"debug"');
    const [call] = fixture.application.routes.analysis.calls;
    expect(call?.headers.authorization).not.toContain("from-");
    for (const NODE_ENV of ["test", "production"]) {
      const dry = await fixture.weekly(["--dry-run", "--json"], { cwd, env: { NODE_ENV, CI: "true" } });
      expect(dry.exitCode, dry.stderr).toBe(0);
      expect(dry.summary).toMatchObject({ editorials: { status: "disabled" } });
      expect(dry.stdout + dry.stderr).not.toMatch(/preloaded|"debug"/);
    }
  });
});
