/** What the collector counts of this host's sockets, and what it makes of an `ss` that does not work. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { holdHalfOpen } from "../../host/support/half-open.ts";
import { useOwnNetwork } from "../../host/support/own-network.ts";
import { endSockets, holdSockets, listBySs } from "../../host/support/real-sockets.ts";
import { requires } from "../../support/requires.ts";
import { until } from "../../support/until.ts";
import { gaugesOf } from "../../text/support/prometheus-parser.ts";
import { logLines, opsctl } from "../support/opsctl.ts";

useOwnNetwork();

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "opsctl-collect-sockets-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** What a run counts, and why it could not. */
async function count(env: Record<string, string> = {}) {
  // The other sources open no connection: it would be counted.
  const alone = { DOCKER_HOST: "unix:///nowhere.sock", OPSCTL_SECRETS_DIR: folder, OPSCTL_LOG_DIR: folder };
  const own = { PATH: process.env.PATH ?? "", ...alone, ...env };
  const { stdout, stderr } = await opsctl(["collect-metrics", "--stdout"], { env: own });
  const value = (wanted: string) => gaugesOf(stdout).find(({ name }) => name === wanted)?.value;
  const problems = logLines(stderr).filter(({ source }) => source === "sockets");
  return {
    ...{ total: value("tcp_sockets_total"), closeWait: value("tcp_close_wait_total") },
    problem: problems.map(({ code, msg }) => `${code}: ${msg}`).join(),
  };
}

/** A PATH whose `ss` is a script. */
function fakeSs(script: string): { PATH: string } {
  const path = mkdtempSync(join(folder, "bin-"));
  writeFileSync(join(path, "ss"), `#!/bin/sh\nPATH=/usr/bin:/bin\n${script}\n`);
  chmodSync(join(path, "ss"), 0o755);
  return { PATH: path };
}

describe("opsctl collect-metrics counts sockets as ss does", () => {
  /** Counted between two listings by `ss` that agree. */
  async function expectAsSs(
    what: "all" | "close-wait",
    isAll: (byState: Record<string, number>) => boolean,
  ): Promise<void> {
    await until("a count between two equal listings that is the same", async () => {
      const [before, counted, after] = [listBySs(), await count(), listBySs()];
      const of = (total: unknown, closeWait = 0) =>
        what === "all" ? `${total} ${closeWait}` : `${closeWait}`;
      const listed = of(before.total, before.byState["CLOSE-WAIT"]);
      const isStill = listed === of(after.total, after.byState["CLOSE-WAIT"]);
      return isAll(before.byState) && isStill && of(counted.total, counted.closeWait) === listed;
    });
  }
  // On the machine's own network others open and close sockets meanwhile: only those in CLOSE-WAIT can be compared.
  const onOwnNetwork = requires("network");

  test("sockets in CLOSE-WAIT are counted, IPv4 and IPv6", async () => {
    await using _a = await holdSockets("127.0.0.1", 300, "close-wait");
    await using _b = await holdSockets("::1", 300, "close-wait");
    await expectAsSs("close-wait", (byState) => (byState["CLOSE-WAIT"] ?? 0) >= 600);
  });

  onOwnNetwork.test(
    "sockets in all states are counted: listening, open, half closed, half open, IPv4, IPv6, mapped",
    async () => {
      await using _a = await holdSockets("127.0.0.1", 300, "close-wait");
      await using _b = await holdSockets("::1", 300, "close-wait");
      await using _c = await holdSockets("::", 50, "close-wait");
      await using _d = await holdSockets("127.0.0.1", 100, "open");
      await using _e = await holdHalfOpen(30);
      await expectAsSs(
        "all",
        (byState) => (byState["CLOSE-WAIT"] ?? 0) >= 650 && (byState["SYN-RECV"] ?? 0) >= 30,
      );
    },
  );

  onOwnNetwork.test("sockets in TIME-WAIT are counted", async () => {
    await endSockets(50);
    await expectAsSs("all", (byState) => (byState["TIME-WAIT"] ?? 0) >= 50);
  });
});

describe("opsctl collect-metrics without a usable listing of sockets", () => {
  test.each([
    ["fails", "exit 3", "ended with status 3"],
    ["prints rows and then fails", "echo 'CLOSE-WAIT 1 0 127.0.0.1:1 127.0.0.1:2'; exit 1", "status 1"],
    ["is killed", "kill -9 $$", "Cannot list the sockets"],
    ["prints garbage", "echo 'cannot open netlink socket'", "has no state"],
    ["prints a state in small letters", "echo 'close-wait 1 0 a b'", "has no state"],
    ["prints a row that is cut off", "printf 'CLOSE-WAIT 1 0 127.0.0.1:1 127'", "cut off"],
    ["prints bytes without end", "cat /dev/zero", "no end"],
    ["lists other states", "echo 'ESTAB 0 0 [::1]:CLOSE-WAIT [::1]:50001'", "has no state"],
  ])("no count of sockets is shown, not even zero, when ss %s", async (_name, script, problem) => {
    const counted = await count(fakeSs(script));
    expect([counted.total, counted.closeWait]).toEqual([undefined, undefined]);
    expect(counted.problem).toMatch(new RegExp(`^sockets_unreadable: .*${problem}`));
  });

  test("no count of sockets is shown when ss is not installed", async () => {
    const counted = await count({ PATH: join(folder, "nothing") });
    expect([counted.total, counted.problem]).toEqual([
      undefined,
      expect.stringContaining("ss is not installed"),
    ]);
  });
});

test("opsctl collect-metrics takes an empty listing for no socket in CLOSE-WAIT", async () => {
  expect(await count(fakeSs("exit 0"))).toMatchObject({ closeWait: 0, problem: "" });
});
