/** Where root finds its own secrets, on a host whose /etc is made for the test. */
import { afterEach, beforeEach, describe, expect } from "bun:test";
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openCollectArena, TOKEN } from "../../metrics/support/dependencies.ts";
import { giveAway } from "../../platform/support/other-account.ts";
import { opsctlBinary } from "../../support/binary.ts";
import { requires } from "../../support/requires.ts";
import { logLines, startProgram } from "../support/opsctl.ts";

let etc: string;
beforeEach(() => {
  etc = mkdtempSync(join(tmpdir(), "opsctl-etc-"));
  chmodSync(etc, 0o755);
  for (const name of ["passwd", "group", "nsswitch.conf", "hosts"])
    if (existsSync(join("/etc", name))) copyFileSync(join("/etc", name), join(etc, name));
  mkdirSync(join(etc, "opsctl/secrets"), { recursive: true, mode: 0o755 });
  mkdirSync(join(etc, "opsctl/root-secrets"), { mode: 0o700 });
});
afterEach(() => rmSync(etc, { recursive: true }));

/** In a mount namespace of its own: `/etc` is the test's. */
const UNDER_ETC = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /etc && exec "$@"'];
const { test } = requires("account");

describe("root's own secrets", () => {
  const collect = async () => {
    await using arena = await openCollectArena();
    const { HOSTING_TOKEN: _, ...env } = arena.env;
    const command = [...UNDER_ETC, etc, await opsctlBinary(), "collect-metrics", "--stdout"];
    const { stderr } = await startProgram(command, { env }).ended;
    return { problems: logLines(stderr), asked: arena.hosting.ledger.length };
  };
  const put = (name: string) => writeFileSync(join(etc, "opsctl", name), TOKEN, { mode: 0o600 });

  test("are found in /etc/opsctl/root-secrets", async () => {
    put("root-secrets/HOSTING_TOKEN");
    const { problems, asked } = await collect();
    expect(problems).toEqual([]);
    expect(asked).toBeGreaterThan(0);
  });

  test("are not read from the account's directory", async () => {
    put("secrets/HOSTING_TOKEN");
    giveAway(join(etc, "opsctl/secrets/HOSTING_TOKEN"));
    const { problems, asked } = await collect();
    expect(problems).toMatchObject([{ code: "hosting_token_missing" }]);
    expect(asked).toBe(0);
  });
});
