import { describe, expect, test } from "bun:test";
import { adviceLines } from "../../../lib/text/terminal/advice-lines.ts";
import { terminal } from "../support/terminal.ts";

const WIDTHS = [20, 40, 60, 80, 100];
const PATH = `/srv/opsctl/${"x".repeat(30)},y`;

describe("adviceLines()", () => {
  test.each([
    `runuser --pty -u opsctl -- chmod 0600 ${PATH}`,
    `install -d -o opsctl -g opsctl -m 0700 ${PATH}`,
    `mv -nT ${PATH} ${PATH}.old && install -d -m 0755 ${PATH} # then fill it in`,
  ])("breaks no command, whatever is in its path: %s", (command) => {
    for (const width of WIDTHS)
      expect(adviceLines("  -> ", command, terminal(width))).toEqual([`  -> ${command}`]);
  });

  test("gives a command at the end of a sentence a line of its own", () => {
    const command = "opsctl secret set ALERT_EMAIL_API_KEY";
    const advice = `Set ALERT_EMAIL_TO and ALERT_EMAIL_FROM in /etc/opsctl/webhook.env, then ${command}`;
    for (const width of WIDTHS)
      expect(adviceLines("  -> ", advice, terminal(width)).at(-1)).toBe(`     ${command}`);
  });

  test.each([
    `Look at it first: ls -l ${PATH}: a link is there; remove it unless you made it`,
    `Correct the setting: ${PATH} is not for opsctl; such a place is /var/lib/opsctl, or one on another disk, as /srv/opsctl. Where that path is meant, look at it (ls -ld ${PATH}) and put it right by hand`,
    `df -h ${PATH}: make room on its disk, the service opens it by itself then`,
    `Look at it, then move it away: runuser --pty -u opsctl -- mv -nT ${PATH} ${PATH}.foreign`,
    `Look at it, then remove it: rm ${PATH}`,
  ])("begins no line with a path, which a shell would run: %s", (advice) => {
    for (const width of WIDTHS) {
      const lines = adviceLines("  -> ", advice, terminal(width));
      expect(lines.filter((line) => /^\s*['"(]?\//.test(line))).toEqual([]);
      expect(lines.map((line) => line.trim()).join(" ")).toBe(`-> ${advice}`);
    }
  });
});
