import { describe, expect, test } from "bun:test";
import { loadConfig } from "../../../../lib/platform/config/config.ts";
import {
  STATE_DIRECTORY_SETTINGS,
  stateDirectoryOf,
} from "../../../../lib/platform/config/settings/state-directory.ts";

describe("stateDirectoryOf()", () => {
  test.each([
    [{ OPSCTL_STATE_DIR: "/srv/own", STATE_DIRECTORY: "/var/lib/unit" }, "/srv/own"],
    [{ STATE_DIRECTORY: "/var/lib/unit" }, "/var/lib/unit"],
    [{ STATE_DIRECTORY: "/var/lib/unit:/var/lib/other" }, "/var/lib/unit"],
    [{}, "/var/lib/opsctl"],
  ])("of %p is %p", async (env, directory) => {
    expect(stateDirectoryOf(await loadConfig(STATE_DIRECTORY_SETTINGS, env))).toBe(directory);
  });
});
