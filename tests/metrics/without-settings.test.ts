/** A run by hand that sees none of the collector's settings, and would replace the installed collector's metrics. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { refuseWithoutSettings } from "../../lib/metrics/sources.ts";

const folder = mkdtempSync(join(tmpdir(), "opsctl-collector-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("is refused, unless a variable, the token's file or the settings file is there", () => {
  const none = { OPSCTL_SECRETS_DIR: folder };
  const settings = join(folder, "collect-metrics.env");
  const refused = expect.objectContaining({ code: "CONFIG_INVALID" });
  expect(() => refuseWithoutSettings(none, settings)).toThrow(refused);
  refuseWithoutSettings({ ...none, PROXY_CONTAINER: "proxy" }, settings);
  writeFileSync(join(folder, "HOSTING_TOKEN"), "token", { mode: 0o600 });
  refuseWithoutSettings(none, settings);
  rmSync(join(folder, "HOSTING_TOKEN"));
  writeFileSync(settings, "");
  refuseWithoutSettings(none, settings);
});
