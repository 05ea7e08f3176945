/** Which directory of secrets root changes on the word of a file that the account owns. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { secretsDirectoryRefusal } from "../../../lib/doctor/advice/secrets-directory.ts";
import { asRootAlone, isRootHere } from "../../platform/support/other-account.ts";

const tried = test.skipIf(!isRootHere);
let folder: string;
let account: { name: string; gid: number };
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "opsctl-secretsdir-")));
  chmodSync(folder, 0o755);
  // `/tmp/<name>/…`: data of an account with that name.
  account = { name: folder.split("/")[2]!, gid: 64_001 };
});
afterEach(() => rmSync(folder, { recursive: true }));

const refusal = (path: string, envDir: string | null = null) =>
  secretsDirectoryRefusal(path, { account, envDir });
const made = (name: string, { gid = 64_001, uid = 0, mode = 0o750, isEmpty = false } = {}) => {
  const path = join(folder, name);
  mkdirSync(path);
  if (!isEmpty) writeFileSync(join(path, "DATABASE_URL"), "");
  chownSync(path, uid, gid);
  chmodSync(path, mode);
  return path;
};

describe(`secretsDirectoryRefusal()${asRootAlone}`, () => {
  test("is null for the installed directory, and system for every other of the system's and of root", () => {
    expect([refusal("/etc/opsctl/secrets"), refusal("/etc/opsctl/secrets/")]).toEqual([null, null]);
    for (const path of [
      "/etc",
      "/root",
      "/etc/ssl/private",
      "/etc/opsctl",
      "/etc/opsctl/root-secrets",
      "/etc/cron.d",
    ])
      expect([path, refusal(path)]).toEqual([path, "system"]);
  });

  test.each(["/", "/tmp", "/home", "/var/lib/../../root", "/srv/opsctl/../salt", "/var//lib"])(
    "refuses %s",
    (path) => expect(refusal(path)).not.toBeNull(),
  );

  tried("is null where root made it for the group of the account, in a place of its name", () => {
    const path = made("secrets");
    expect(refusal(path)).toBeNull();
    account.name = "other";
    expect(refusal(path)).toBe("taken");
  });

  tried("is taken where root has kept it closed, and where it is another's", () => {
    expect(refusal(made("closed", { mode: 0o700 }))).toBe("taken");
    expect(refusal(made("roots", { gid: 0 }))).toBe("taken");
    expect(refusal(made("theirs", { uid: 64_001 }))).toBe("taken");
    expect(refusal(made("open", { mode: 0o770 }))).toBe("taken");
    const behind = made("link-to", { uid: 64_001 });
    symlinkSync("/etc", join(behind, "etc"));
    expect(refusal(join(behind, "etc"))).not.toBeNull();
    const moved = join(made("theirs-too", { uid: 64_001 }), "of-root");
    mkdirSync(moved);
    writeFileSync(join(moved, "DATABASE_URL"), "");
    chownSync(moved, 0, 64_001);
    chmodSync(moved, 0o750);
    expect(refusal(moved)).toBe("taken");
    account.gid = 0;
    expect(refusal(made("of-group-root", { gid: 0 }))).toBe("taken");
  });

  tried("follows no link of root's to what root made elsewhere", () => {
    const elsewhere = mkdtempSync(join(realpathSync(tmpdir()), "opsctl-elsewhere-"));
    try {
      chmodSync(elsewhere, 0o750);
      chownSync(elsewhere, 0, account.gid);
      writeFileSync(join(elsewhere, "DATABASE_URL"), "");
      symlinkSync(elsewhere, join(folder, "link"));
      expect(refusal(join(folder, "link"))).toBe("taken");
    } finally {
      rmSync(elsewhere, { recursive: true });
    }
  });

  tried("believes a file that root alone can change, and not that of the collector", () => {
    const path = made("anywhere", { mode: 0o700, gid: 0 });
    const envDir = made("etc", { isEmpty: true });
    const named = (file: string, uid: number) => {
      writeFileSync(join(envDir, file), `OPSCTL_SECRETS_DIR=${path}\n`, { mode: 0o600 });
      chownSync(join(envDir, file), uid, uid);
      const found = refusal(path, envDir);
      rmSync(join(envDir, file));
      return found;
    };
    // The way to /tmp is sticky, and only root can exchange what root put there.
    expect(named("webhook.env", 0)).toBeNull();
    expect(named("webhook.env", 64_001)).toBe("taken");
    expect(named("collect-metrics.env", 0)).toBe("taken");
  });
});
