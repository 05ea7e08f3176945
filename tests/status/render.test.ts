import { describe, expect, test } from "bun:test";
import { renderStatus } from "../../lib/status/render.ts";
import type { PartReport } from "../../lib/status/run.ts";
import { NO_TERMINAL } from "../../lib/text/terminal/screen.ts";
import { terminal } from "../text/support/terminal.ts";

type Report = Omit<PartReport, "part">;
const ok = (lines: string[]): Report => ({ status: "ok", lines, next: null, facts: {} });
const attention = (lines: string[], next: string): Report => ({
  status: "attention",
  lines,
  next,
  facts: null,
});
const NOT_SET_UP: Report = { status: "not_set_up", lines: ["not set up"], next: null, facts: null };

const REPORTS: PartReport[] = [
  { part: "weekly", ...ok(["week of 2026-11-16: clean, 6 owners"]) },
  {
    part: "webhook",
    ...attention(["up", "issues are paused (tracker_forbidden)"], "sudo opsctl doctor webhook"),
  },
  {
    ...{ part: "collector", status: "unknown", lines: ["its settings cannot be read"] },
    ...{ next: "sudo opsctl status", facts: null },
  },
  { part: "alert-rules", ...NOT_SET_UP },
];

describe("renderStatus()", () => {
  test("writes words where no terminal is", () => {
    expect(renderStatus(REPORTS, { ...NO_TERMINAL, isTerminal: false, env: {} })).toBe(
      [
        "  ok    weekly          week of 2026-11-16: clean, 6 owners",
        "  LOOK  webhook         up",
        "                        issues are paused (tracker_forbidden)",
        "                        -> sudo opsctl doctor webhook",
        "  ?     collector       its settings cannot be read",
        "                        -> sudo opsctl status",
        "  -     alert rules     not set up",
        "",
        "What every command needs, in detail:",
        "  sudo opsctl doctor --all",
        "",
      ].join("\n"),
    );
  });

  test("draws marks on a terminal, and colours them where that is wanted", () => {
    const plain = renderStatus(REPORTS, { ...NO_TERMINAL, isTerminal: true, env: {} });
    expect(plain.split("\n").slice(0, 2)).toEqual([
      "  ✓  weekly          week of 2026-11-16: clean, 6 owners",
      "  ✗  webhook         up",
    ]);
    expect(plain).not.toContain("\x1b");
    const coloured = renderStatus(REPORTS, { ...NO_TERMINAL, colour: true, isTerminal: true, env: {} });
    expect(coloured).toContain("  \x1b[32m✓\x1b[39m  weekly ");
    expect(coloured).toContain("  \x1b[31m✗\x1b[39m  webhook ");
    expect(Bun.stripANSI(coloured)).toBe(plain);
  });

  test("sends root to the environment files that this process has", () => {
    const env = { OPSCTL_ENV_DIR: "/etc/opsctl/staging" };
    const look = { ...NO_TERMINAL, isTerminal: false, env };
    expect(renderStatus(REPORTS, look)).toEndWith(
      ":\n  sudo opsctl doctor --all --env-dir /etc/opsctl/staging\n",
    );
    expect(renderStatus(REPORTS.slice(-1), look)).toEndWith(
      ":\n  sudo opsctl doctor --env-dir /etc/opsctl/staging\n",
    );
  });

  test("breaks the lines of a narrow terminal between words, and no command", () => {
    const report = attention(
      ["last plan 3 days ago: 18 rules, 4 of them differ"],
      "sudo opsctl alert-rules apply --with-extras",
    );
    const text = renderStatus([{ part: "alert-rules", ...report }], {
      ...terminal(60),
      isTerminal: true,
      env: {},
    });
    expect(text.split("\n").slice(0, 3)).toEqual([
      "  ✗  alert rules     last plan 3 days ago: 18 rules, 4 of",
      "                     them differ",
      "                     -> sudo opsctl alert-rules apply --with-extras",
    ]);
  });

  test("says where to begin on a host without any part", () => {
    expect(renderStatus(REPORTS.slice(-1), { ...NO_TERMINAL, isTerminal: false, env: {} })).toBe(
      "  -     alert rules     not set up\n\nNothing is set up on this host. Begin with:\n  sudo opsctl doctor\n",
    );
  });

  test("says no more when all is well", () => {
    expect(renderStatus(REPORTS.slice(0, 1), { ...NO_TERMINAL, isTerminal: false, env: {} })).toBe(
      "  ok    weekly          week of 2026-11-16: clean, 6 owners\n",
    );
  });
});
