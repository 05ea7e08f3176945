import { describe, expect, test } from "bun:test";
import { SETTINGS_FILES, settingsOfFile } from "../../../../lib/platform/config/names/known-settings.ts";
import { oddSettings, oddSettingTexts } from "../../../../lib/platform/config/names/odd-settings.ts";

/** What is said of one name in a file; null where nothing is. */
const said = (file: string, ...names: string[]): string | null => {
  const [odd] = oddSettings(file, names).told;
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
    ["weekly.env", "API_URL", "EMAIL_API_URL"],
    ["collect-metrics.env", "TEAM_ID", "HOSTING_TEAM_ID"],
    ["collect-metrics.env", "HOSTING_TEAM", "HOSTING_TEAM_ID"],
  ])("suggests in %s for %s: %s", (file, name, meant) => {
    expect(said(file, name)).toBe(`${name}, which nothing reads; did you mean ${meant}?`);
  });

  test("names the file in which another command reads it", () => {
    expect(said("weekly.env", "TEXTFILE_DIR")).toBe(
      "TEXTFILE_DIR, which has no effect there: it is read in collect-metrics.env, socket-monitor.env",
    );
  });

  test("has nobody move to root's file what an account has written", () => {
    const todo = (name: string) => oddSettingTexts(oddSettings("weekly.env", [name]).told[0]!).todo;
    expect(todo("HOSTING_API_URL")).toBe("Take HOSTING_API_URL out");
    expect(todo("TEXTFILE_DIR")).toBe("Move TEXTFILE_DIR to socket-monitor.env");
    expect(todo("ISSUE_TRACKER_URL")).toBe("Move ISSUE_TRACKER_URL to webhook.env");
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
    expect(oddSettings("webhook.env", ["EMAIL_API_KEY"]).told).toEqual([
      { name: "EMAIL_API_KEY", meant: null, readIn: ["weekly.env"] },
    ]);
    expect(oddSettings("webhook.env", [`OPSCTL_${"X".repeat(100)}`]).told).toEqual([]);
  });

  test("says nothing of what a command reads", () => {
    for (const file of SETTINGS_FILES) expect(oddSettings(file, settingsOfFile(file)).told).toEqual([]);
  });

  test.each(["TEMP", "FTP_PROXY", "HTTP_PROXI", "SSL_CERT", "SSL_CERT_FIL", "NO_COLORS", "COLUMN"])(
    "suggests no variable of other programs: %s",
    (name) => {
      for (const file of SETTINGS_FILES) expect(said(file, name)).toBeNull();
    },
  );

  test.each(["EMAIL_KEY", "EMAIL_URL", "API_URL_EMAIL"])(
    "takes no other part of a name for it: %s",
    (name) => {
      for (const file of SETTINGS_FILES) expect(said(file, name)).toBeNull();
    },
  );

  test("suggests nothing where two names end with the words", () => {
    expect(said("weekly.env", "API_KEY")).toBeNull();
    expect(said("webhook.env", "API_KEY")).toBeNull();
  });

  test.each([
    ...["API_KEY", "API_URL", "ADMIN_KEY", "TEAM_ID", "LOG_LEVEL", "PING_URL"],
    ...["DOCKER_HOST", "STATE_DIRECTORY"],
  ])("leaves %s to the secrets command that the file names", (name) => {
    for (const file of SETTINGS_FILES) expect(said(file, name, "OPSCTL_SECRETS_COMMAND")).toBeNull();
  });

  test("names a slip of the pen beside a secrets command, too", () => {
    expect(said("webhook.env", "ISSUE_TRACKER_COMMENT", "OPSCTL_SECRETS_COMMAND")).toContain(
      "did you mean ISSUE_TRACKER_COMMENTS?",
    );
    expect(said("webhook.env", "APP_BASE_URL", "OPSCTL_SECRETS_COMMAND")).toContain("read in weekly.env");
  });

  test("tells twenty of any number of names, and how many more there are", () => {
    const names = Array.from({ length: 70_000 }, (_, at) => `OPSCTL_${at}`);
    const { told, more } = oddSettings("weekly.env", names);
    expect(told.map(({ name }) => name)).toEqual(names.slice(0, 20));
    expect(more).toBe(69_980);
  });

  test("compares a bounded number of foreign names with its own, however many a file has", () => {
    const foreign = Array.from({ length: 1_000 }, (_, at) => `FOREIGN_${at}`);
    expect(oddSettings("weekly.env", ["PING_URL", ...foreign]).told).toHaveLength(1);
    expect(oddSettings("weekly.env", [...foreign, "PING_URL", "OPSCTL_X"]).told).toEqual([
      { name: "OPSCTL_X", meant: null, readIn: [] },
    ]);
  });
});
