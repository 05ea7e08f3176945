/** What `secret set` prints once the secret is written. */
import { describe, expect, test } from "bun:test";
import { renderSecretSet, type SecretSet } from "../../lib/secret/render-set.ts";

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
});
