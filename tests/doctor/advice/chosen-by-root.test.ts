import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chosenByRoot } from "../../../lib/doctor/advice/chosen-by-root.ts";
import { asRootAlone, giveAway, isRootHere } from "../../platform/support/other-account.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "opsctl-chosen-")));
afterAll(() => rmSync(folder, { recursive: true }));
const NOTHING = { directories: [], secrets: [], settings: [] };

/** A directory with one environment file. */
function envDirWith(text: string, { mode = 0o600, name = "webhook.env" } = {}): string {
  const directory = mkdtempSync(join(folder, "etc-"));
  chmodSync(directory, 0o755);
  writeFileSync(join(directory, name), text);
  chmodSync(join(directory, name), mode);
  return directory;
}

describe("chosenByRoot()", () => {
  test("takes what the environment of root names", () =>
    expect(
      chosenByRoot(
        {
          OPSCTL_STATE_DIR: "/srv/state/",
          OPSCTL_LOG_DIR: "/data/log",
          OPSCTL_SECRETS_DIR: "/srv/keys",
          OPSCTL_WEBHOOK_ENV_FILE: "/srv/settings/webhook.env",
        },
        folder,
      ),
    ).toEqual({
      directories: ["/srv/state", "/data/log"],
      secrets: ["/srv/keys"],
      settings: ["/srv/settings"],
    }));

  test.each(["", " ", "/", "state", "/srv/../etc", "/srv/./x", "/srv//x", undefined])(
    "takes no path that leads elsewhere than it says: %p",
    (path) =>
      expect(chosenByRoot({ OPSCTL_STATE_DIR: path, OPSCTL_SECRETS_DIR: path }, folder)).toEqual(NOTHING),
  );

  test("takes no file of another name for the webhook's", () =>
    expect(chosenByRoot({ OPSCTL_WEBHOOK_ENV_FILE: "/srv/settings/other.env" }, folder)).toEqual(NOTHING));

  test(`takes what a file of root's names${asRootAlone}`, () => {
    for (const name of ["webhook.env", "collect-metrics.env"]) {
      const { directories } = chosenByRoot({}, envDirWith("OPSCTL_LOG_DIR='/srv/logs'\n", { name }));
      expect(directories).toEqual(isRootHere ? ["/srv/logs"] : []);
    }
  });

  test(`takes nothing of a file that another account can change${asRootAlone}`, () => {
    const text = "OPSCTL_STATE_DIR=/srv/state\n";
    const [given, within, linked] = [envDirWith(text), envDirWith(text), join(folder, "linked")];
    mkdirSync(linked);
    symlinkSync(join(given, "webhook.env"), join(linked, "webhook.env"));
    if (isRootHere) giveAway(join(given, "webhook.env"), within);
    for (const directory of [
      given,
      within,
      linked,
      envDirWith(text, { mode: 0o620 }),
      envDirWith(text, { mode: 0o602 }),
    ])
      expect(chosenByRoot({}, directory)).toEqual(NOTHING);
  });

  test("takes nothing of what is no file of settings", () => {
    const directory = join(folder, "odd");
    mkdirSync(join(directory, "webhook.env"), { recursive: true });
    expect(chosenByRoot({}, directory)).toEqual(NOTHING);
    expect(chosenByRoot({}, join(folder, "missing"))).toEqual(NOTHING);
    expect(chosenByRoot({}, envDirWith(`OPSCTL_STATE_DIR=/srv/x\n#${"x".repeat(1_048_576)}`))).toEqual(
      NOTHING,
    );
  });
});
