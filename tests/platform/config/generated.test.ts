/** What `make generate` writes from the table of settings. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { renderDocs, renderSample } from "../../../.ci/settings.ts";
import { faultOf, KINDS } from "../../../lib/platform/config/kinds.ts";
import {
  ALL_SETTINGS,
  ENV_FILES,
  readersOf,
  settingOf,
} from "../../../lib/platform/config/settings-table.ts";

describe("the table of settings", () => {
  test.each(ENV_FILES)("is in systemd/%s.example; else run make generate", (file) => {
    expect(readFileSync(`systemd/${file}.example`, "utf8")).toBe(renderSample(file));
  });

  test("names a secret in the sample of the account that reads it", () => {
    const named = ENV_FILES.filter((file) => /MIGRATE_DATABASE_URL:|HOSTING_TOKEN:/.test(renderSample(file)));
    expect(named).toEqual(["collect-metrics.env"]);
  });

  test("is in docs/configuration.md; else run make generate", () => {
    const page = readFileSync("docs/configuration.md", "utf8");
    expect(page).toBe(renderDocs(page));
    for (const [name] of ALL_SETTINGS) expect(page).toContain(`\n| \`${name}\``);
  });

  test("has defaults and samples that are valid, and depends on settings that it has", () => {
    for (const [name, setting] of ALL_SETTINGS) {
      for (const value of [setting.default, setting.sample])
        if (value !== undefined)
          expect([name, faultOf(KINDS[setting.kind], value, {})]).toEqual([name, null]);
      for (const { neededWith } of readersOf(setting))
        if (neededWith !== null) expect(settingOf(neededWith)).not.toBeNull();
    }
  });
});
