/** What may lie in the place of a secret's file: doctor refuses what the command would refuse, with the same code. */
import { afterAll, beforeAll, describe, expect } from "bun:test";
import { chmodSync, mkdirSync } from "node:fs";
import { FILE_FAULTS, FILE_VALUE } from "../cases/file-faults.ts";
import { requires } from "../support/requires.ts";
import { type Host, openHost } from "./support/host.ts";

let host: Host;
beforeAll(async () => {
  host = await openHost();
});
afterAll(async () => await host[Symbol.asyncDispose]());

describe("doctor finds in the place of a secret", () => {
  for (const [at, { name, make, refused, isAbsent, needs }] of FILE_FAULTS.entries())
    requires(...needs).test(`${name}: ${refused ?? (isAbsent ? "CONFIG_INVALID" : "no fault")}`, async () => {
      const directory = host.path(`secrets-${at}`);
      mkdirSync(directory);
      chmodSync(directory, 0o755);
      make(`${directory}/TRIGGER_SECRET`);
      host.dependencies.env = { ...host.dependencies.env, OPSCTL_SECRETS_DIR: directory };
      const findings = await host.examine("weekly");
      const about = findings.filter(
        ({ check, reason }) => check === "secrets" || reason.includes("TRIGGER_SECRET"),
      );
      const failed = about.filter(({ status }) => status === "fail").map(({ check, code }) => [check, code]);
      if (isAbsent) expect(failed).toContainEqual(["configuration", "CONFIG_INVALID"]);
      else if (refused === null) expect(failed).toEqual([]);
      else expect(failed).toContainEqual(["secrets", refused]);
      expect(JSON.stringify(findings)).not.toContain(FILE_VALUE);
    });
});
