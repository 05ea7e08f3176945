import { describe, expect, test } from "bun:test";
import { SETTINGS_FILES, settingsOfFile } from "../../../lib/platform/config/known-settings.ts";
import { oddSettings, oddSettingTexts } from "../../../lib/platform/config/odd-settings.ts";

/** What is said of one name in a file; null where nothing is. */
const said = (file: string, name: string): string | null => {
  const [odd] = oddSettings(file, [name]);
  return odd === undefined ? null : oddSettingTexts(odd).what;
};

describe("oddSettings()", () => {
  test.each([
    ["weekly.env", "WHATSAPP_REPORT_MESSAGE_PER_MINUTE", "WHATSAPP_REPORT_MESSAGES_PER_MINUTE"],
    ["weekly.env", "WHATSAPP_MESSAGES_PER_MINUTE", "WHATSAPP_REPORT_MESSAGES_PER_MINUTE"],
    ["weekly.env", "weekly_report_unsubscribe", "WEEKLY_REPORT_UNSUBSCRIBE"],
    ["weekly.env", "PING_URL", "OPSCTL_PING_URL"],
    ["webhook.env", "ISSUE_TRACKER_COMMENT", "ISSUE_TRACKER_COMMENTS"],
    ["webhook.env", "LOG_LEVEL", "OPSCTL_LOG_LEVEL"],
    ["webhook.env", "HTTP_PROXI", "HTTP_PROXY"],
    ["collect-metrics.env", "HOSTING_TEAM", "HOSTING_TEAM_ID"],
    ["weekly.env", "EMAIL_URL", "EMAIL_API_URL"],
    ["weekly.env", "EMAIL_KEY", "EMAIL_API_KEY or EMAIL_READ_API_KEY"],
  ])("suggests in %s for %s: %s", (file, name, meant) => {
    expect(said(file, name)).toBe(`${name}, which nothing reads; did you mean ${meant}?`);
  });

  test("names the file in which another command reads it", () => {
    expect(said("weekly.env", "TEXTFILE_DIR")).toBe(
      "TEXTFILE_DIR, which has no effect there: it is read in collect-metrics.env, socket-monitor.env",
    );
  });

  test("says of a name of opsctl's own kind that there is no such setting", () => {
    expect(said("webhook.env", "OPSCTL_RETENTION_DAYS")).toBe(
      "OPSCTL_RETENTION_DAYS, which nothing reads: opsctl has no such setting",
    );
  });

  test.each([
    ...["NODE_EXTRA_CA_CERTS", "HTTPS_PROXY", "no_proxy", "NO_COLOR", "TZ", "LANG", "LC_ALL", "PATH", "HOME"],
    ...[
      "VAULT_ADDR",
      "VAULT_TOKEN",
      "AWS_REGION",
      "MAILTO",
      "NODE_OPTIONS",
      "DENO_DIR",
      "PGSSLMODE",
      "URL",
      "KEY",
    ],
    ...["DATABASE_URL_BEFORE_MAY", "X".repeat(100_000), "_", "A"],
  ])("says nothing of a foreign name: %p", (name) => {
    for (const file of SETTINGS_FILES) expect(said(file, name)).toBeNull();
  });

  test("takes no name of another file for a slip of the pen, and looks at none that is too long to be one", () => {
    expect(oddSettings("webhook.env", ["EMAIL_API_KEY"])).toEqual([
      { name: "EMAIL_API_KEY", meant: [], readIn: ["weekly.env"] },
    ]);
    expect(oddSettings("webhook.env", [`OPSCTL_${"X".repeat(100)}`])).toEqual([]);
  });

  test("says nothing of what a command reads", () => {
    for (const file of SETTINGS_FILES) expect(oddSettings(file, settingsOfFile(file))).toEqual([]);
  });
});
