/** What `secret set` prints once the secret is written. */
import { describe, expect, test } from "bun:test";
import { renderSecretSet, type SecretSet } from "../../lib/secret/render-set.ts";
import { NO_TERMINAL } from "../../lib/text/terminal/screen.ts";

const SET: SecretSet = {
  ...{ name: "DATABASE_URL", path: "/etc/opsctl/secrets/DATABASE_URL", owner: "opsctl:opsctl", mode: "0600" },
  ...{ isNew: true, usedBy: ["weekly", "reports", "migrate"], next: [], warnings: [] },
};
const WHERE = "/etc/opsctl/secrets/DATABASE_URL (opsctl:opsctl 0600)";

describe("renderSecretSet()", () => {
  test("says of several commands and of one when they read it", () => {
    expect(renderSecretSet(SET)).toBe(
      `DATABASE_URL is set: ${WHERE}, for weekly, reports and migrate\nEach of them reads it at its next start.\n`,
    );
    expect(renderSecretSet({ ...SET, usedBy: ["weekly"] })).toBe(
      `DATABASE_URL is set: ${WHERE}, for weekly\nIt is read at the next start.\n`,
    );
  });

  test("says what has to be done where something runs already, and what else has a value", () => {
    const more = { isNew: false, next: ["systemctl reload x"], warnings: ["another value is in y"] };
    expect(
      renderSecretSet({ ...SET, ...more })
        .split("\n")
        .slice(1),
    ).toEqual([
      "Note: another value is in y",
      "So that it counts in what runs already:",
      "  systemctl reload x",
      "",
    ]);
    expect(renderSecretSet({ ...SET, ...more })).toStartWith("DATABASE_URL is replaced: ");
  });

  test("breaks its sentences between words on a terminal, and no command", () => {
    const next = [`opsctl ${"x".repeat(80)}`];
    const warnings = [
      "the value is shorter than the tokens of the e-mail provider usually are: see that it is whole",
    ];
    const told = renderSecretSet({ ...SET, next, warnings }, { ...NO_TERMINAL, width: 80 });
    expect(told.split("\n")).toEqual([
      "DATABASE_URL is set: /etc/opsctl/secrets/DATABASE_URL (opsctl:opsctl 0600), for",
      "  weekly, reports and migrate",
      "Note: the value is shorter than the tokens of the e-mail provider usually are:",
      "  see that it is whole",
      "So that it counts in what runs already:",
      `  ${next[0]}`,
      "",
    ]);
  });
});
