/** Where root finds its own secrets, on a host whose /etc is made for the test. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openCollectArena, TOKEN } from "../../metrics/support/dependencies.ts";
import { giveAway, isRootHere } from "../../platform/support/other-account.ts";
import { opsctlBinary } from "../../support/binary.ts";
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

/** In a mount namespace of its own, where that can be had: `/etc` is the test's. */
const UNDER_ETC = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /etc && exec "$@"'];
const canMount =
  isRootHere && spawnSync("unshare", ["--mount", "mount", "--bind", "/etc", "/etc"]).status === 0;
const asWhere = canMount ? "" : " (not tried: only root can have another /etc)";

describe(`root's own secrets${asWhere}`, () => {
  const collect = async () => {
    await using arena = await openCollectArena();
    const { HOSTING_TOKEN: _, ...env } = arena.env;
    const command = [...UNDER_ETC, etc, await opsctlBinary(), "collect-metrics", "--stdout"];
    const { stderr } = await startProgram(command, { env }).ended;
    return { problems: logLines(stderr), asked: arena.hosting.ledger.length };
  };
  const put = (name: string) => writeFileSync(join(etc, "opsctl", name), TOKEN, { mode: 0o600 });

  test("are found in /etc/opsctl/root-secrets", async () => {
    if (!canMount) return;
    put("root-secrets/HOSTING_TOKEN");
    const { problems, asked } = await collect();
    expect(problems).toEqual([]);
    expect(asked).toBeGreaterThan(0);
  });

  test("are not read from the account's directory, and the message says where they belong", async () => {
    if (!canMount) return;
    put("secrets/HOSTING_TOKEN");
    giveAway(join(etc, "opsctl/secrets/HOSTING_TOKEN"));
    const { problems, asked } = await collect();
    expect(problems).toMatchObject([
      {
        code: "hosting_token_missing",
        msg: expect.stringMatching(
          /root does not read \/etc\/opsctl\/secrets\/HOSTING_TOKEN: .* \/etc\/opsctl\/root-secrets, where make install moves it$/,
        ),
      },
    ]);
    expect(asked).toBe(0);
  });
});
