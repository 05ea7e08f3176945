/** Files that were made to keep `opsctl doctor` busy for ever: it ends all the same. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Finding } from "../../../lib/doctor/context.ts";
import { opsctl } from "../support/opsctl.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "opsctl-traps-"));
  for (const name of ["etc", "secrets"]) mkdirSync(join(folder, name), { mode: 0o700 });
  const settings = {
    OPSCTL_STATE_DIR: folder,
    MESSAGING_API_URL: "http://127.0.0.1:1",
    MESSAGING_PHONE: "5511987654321",
    ISSUE_TRACKER_URL: "http://127.0.0.1:1/graphql",
    ISSUE_TRACKER_TEAM_ID: "9c36b1a2-5d47-4a90-8c1e-0e1f2a3b4c5d",
  };
  put(
    "etc/webhook.env",
    Object.entries(settings)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(""),
  );
  for (const name of ["WEBHOOK_SECRET", "MESSAGING_API_KEY", "ISSUE_TRACKER_TOKEN"])
    put(`secrets/${name}`, "a-value");
});
afterEach(() => rmSync(folder, { recursive: true }));

const put = (name: string, text: string) => writeFileSync(join(folder, name), text, { mode: 0o600 });

async function findings(): Promise<Finding[]> {
  const { json } = await opsctl(["doctor", "webhook", "--json", "--env-dir", join(folder, "etc")], {
    env: { OPSCTL_SECRETS_DIR: join(folder, "secrets"), PATH: process.env.PATH },
  });
  return json.findings as Finding[];
}

const of = (check: string, all: readonly Finding[]) => all.filter((finding) => finding.check === check);

describe("opsctl doctor webhook", () => {
  test("does not wait for the writer of a pipe, whatever it stands in for", async () => {
    const pipe = (name: string) => {
      rmSync(join(folder, name), { force: true });
      execFileSync("mkfifo", ["-m", "600", join(folder, name)]);
    };
    pipe("secrets/WEBHOOK_SECRET");
    expect(of("secrets", await findings())[0]).toMatchObject({
      status: "fail",
      reason: expect.stringContaining("WEBHOOK_SECRET"),
    });
    pipe("etc/webhook.env");
    expect(of("environment file", await findings())).toMatchObject([
      { status: "fail", reason: expect.stringContaining("it is not a regular file") },
    ]);
  });
});
