/** A state on a real disk that takes no writes, as a unit of systemd leaves what it does not open. */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { openSqliteState } from "../../../../lib/webhook/state/sqlite/state.ts";
import { requires } from "../../../support/requires.ts";
import { silentLog } from "../../../support/silent-log.ts";
import { smallDisk } from "../../../support/small-disk.ts";
import { START_MS } from "../../support/state-fixture.ts";

const { describe } = requires("root", "mount");
const BEFORE = { "no file": false, "a file": true };

describe("openSqliteState() on a disk that is read-only", () => {
  test.each(Object.entries(BEFORE))("with %s, names the unit's setting", async (_name, hasFile) => {
    const disk = smallDisk(16);
    const open = () => openSqliteState({ directory: disk.directory, nowMs: () => START_MS, log: silentLog });
    try {
      if (hasFile) await (await open()).close();
      spawnSync("mount", ["-o", "remount,ro", disk.directory]);
      await expect(open()).rejects.toMatchObject({
        code: "STATE_UNAVAILABLE",
        hint: expect.stringContaining("below [Service] ReadWritePaths="),
      });
    } finally {
      disk.remove();
    }
  });
});
