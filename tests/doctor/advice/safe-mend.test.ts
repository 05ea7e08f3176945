import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ODD_PATH, safeMend } from "../../../lib/doctor/advice/safe-mend.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "opsctl-mend-")));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string) => join(folder, name);
writeFileSync(at("file"), "");
mkdirSync(at("real"));
symlinkSync("/etc/shadow", at("link"));
symlinkSync("/nowhere/at-all", at("dangling"));

describe("safeMend()", () => {
  test.each([
    `chmod 0600 ${at("file")}`,
    `Look at it, then: chown -h opsctl:opsctl ${at("missing")}`,
    `install -D -m 0600 -o opsctl /dev/stdin ${at("real/KEY")}`,
    `install -d -m 0755 ${at("missing")}`,
    "systemctl start opsctl-webhook.socket",
    `tail ${at("link")}`,
  ])("leaves %s", (mend) => expect(safeMend(mend)).toBe(mend));

  test.each([
    `chmod 0600 ${at("a b")}`,
    `chmod 0600 ${at("file")}#/../..`,
    `Look at it, then move it away: mv -nT ${at("a;b")} ${at("a;b")}.foreign`,
    `install -d -o opsctl -g opsctl -m 0700 ${at("file")} # or not`,
  ])("shows no command that a shell would read otherwise: %s", (mend) =>
    expect(safeMend(mend)).toBe(ODD_PATH),
  );

  test("looks at a link that is to be moved away, too", () =>
    expect(safeMend(`Look at it, then move it away: mv -nT ${at("link")} ${at("link")}.foreign`)).toStartWith(
      `Look at it first: ls -l ${at("link")}`,
    ));

  test.each([
    ["chmod 0600", "link"],
    ["Look at it, then: chown -h opsctl:opsctl", "link"],
    ["install -d -o opsctl -g opsctl -m 0700", "link"],
    ["install -D -m 0600 /dev/stdin", "dangling"],
  ])("has %s look at a link first", (words, name) => {
    const mend = safeMend(`${words} ${at(name)}`);
    expect(mend).toStartWith(`Look at it first: ls -l ${at(name)}: a link is there`);
    expect(mend).not.toMatch(/chown|chmod|install/);
  });
});
