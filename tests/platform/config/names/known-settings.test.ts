/** The table of settings has every variable that a sample file, the documents or a command's own settings name. */
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnvFile } from "../../../../lib/platform/config/env-files/env-file.ts";
import { KNOWN_SECRETS } from "../../../../lib/platform/config/names/known-secrets.ts";
import {
  plainSettingsOfFile,
  SETTINGS_FILES,
  settingsOfFile,
} from "../../../../lib/platform/config/names/known-settings.ts";

const ROOT = join(import.meta.dirname, "../../../..");

describe("settingsOfFile()", () => {
  test.each(SETTINGS_FILES.map((file) => [file]))("has all that the sample of %s names", (file) => {
    const sample = parseEnvFile(readFileSync(join(ROOT, `systemd/${file}.example`), "utf8"));
    expect([...sample.keys()].filter((name) => !settingsOfFile(file).includes(name))).toEqual([]);
    // What the sample leaves out is told by its own words, or is another file's.
    const unsaid = ["STATE_DIRECTORY", "MESSAGING_API_URL", "MESSAGING_PHONE", "MESSAGING_INSTANCE"];
    const plain = plainSettingsOfFile(file).filter((name) => !unsaid.includes(name) && !sample.has(name));
    expect(plain.filter((name) => !(file === "alert-rules.env" && name === "OPSCTL_LOG_DIR"))).toEqual([]);
  });

  test("has every variable that the settings of a feature declare", () => {
    const declared = readdirSync(join(ROOT, "lib"), { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts"))
      .flatMap((path) => {
        const text = readFileSync(join(ROOT, "lib", path), "utf8");
        return [...text.matchAll(/^\s+([A-Z][A-Z_]+): (?:required|optional)(?:Secret)?\(/gm)].map(
          ([, name]) => name!,
        );
      });
    expect(declared.length).toBeGreaterThan(40);
    const known = SETTINGS_FILES.flatMap(settingsOfFile);
    expect(declared.filter((name) => !known.includes(name))).toEqual([]);
  });

  test("takes no secret for a plain setting", () => {
    const plain = SETTINGS_FILES.flatMap(plainSettingsOfFile);
    expect(KNOWN_SECRETS.map(({ name }) => name).filter((name) => plain.includes(name))).toEqual([]);
  });
});
