import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { openHost } from "./support/host.ts";

test("doctor checks everything that does not need the one setting that is missing, and names the cause once", async () => {
  await using host = await openHost();
  rmSync(host.path("secrets/DATABASE_URL"));
  const findings = await host.examine("weekly");
  const wellChecks = new Set(findings.filter(({ status }) => status === "pass").map(({ check }) => check));
  for (const check of ["messaging gateway", "e-mail provider", "application", "log directory"])
    expect(wellChecks).toContain(check);
  const missing = findings.filter(({ reason }) => reason.includes("DATABASE_URL"));
  expect(missing.map(({ check, code }) => [check, code])).toEqual([
    ["configuration", "CONFIG_INVALID"],
    ["database", "PREREQUISITE_FAILED"],
  ]);
  expect(missing[1]?.reason).toMatch(
    /^not checked: it needs DATABASE_URL, see configuration; neither were database schema, .*recipients.*status$/,
  );
});
