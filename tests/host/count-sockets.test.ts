import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { countSockets, parseCounters, type SocketCounts } from "../../lib/host/count-sockets.ts";
import { WITHOUT_SS } from "../support/iproute2.ts";
import { until } from "../support/until.ts";
import { holdHalfOpen } from "./support/half-open.ts";
import { useOwnNetwork } from "./support/own-network.ts";
import { endSockets, holdSockets, listBySs } from "./support/real-sockets.ts";

const PAIRS = 400;
const signal = new AbortController().signal;
useOwnNetwork();
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "opsctl-ss-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Other tests open and close sockets meanwhile: counted between two listings by `ss` that agree. */
async function expectAsSs(isAll: (byState: Record<string, number>) => boolean): Promise<SocketCounts> {
  let counted: SocketCounts = { total: -1, closeWait: -1 };
  await until("a count between two equal listings that is the same", async () => {
    const before = listBySs();
    counted = await countSockets({ signal });
    const after = listBySs();
    const [total, closeWait] = [before.total, before.byState["CLOSE-WAIT"] ?? 0];
    const isStill = total === after.total && closeWait === (after.byState["CLOSE-WAIT"] ?? 0);
    return isAll(before.byState) && isStill && counted.total === total && counted.closeWait === closeWait;
  });
  return counted;
}

describe("countSockets()", () => {
  test("counts what ss lists: listeners, open, half closed and half open ones, IPv4, IPv6 and mapped", async () => {
    await using _a = await holdSockets("127.0.0.1", PAIRS, "close-wait");
    await using _b = await holdSockets("::1", PAIRS, "close-wait");
    await using _c = await holdSockets("::", 50, "close-wait");
    await using _d = await holdSockets("127.0.0.1", 100, "open");
    await using _e = await holdHalfOpen(30);
    const held = PAIRS * 2 + 50;
    const { total, closeWait } = await expectAsSs(
      (byState) => (byState["CLOSE-WAIT"] ?? 0) >= held && (byState["SYN-RECV"] ?? 0) >= 30,
    );
    expect(closeWait).toBeGreaterThanOrEqual(held);
    expect(total).toBeGreaterThanOrEqual(held * 2 + 200 + 60);
  });

  test("counts sockets in TIME-WAIT, too", async () => {
    await endSockets(50);
    await expectAsSs((byState) => (byState["TIME-WAIT"] ?? 0) >= 50);
  });

  const failing: [string, string, RegExp][] = [
    ["fails", "exit 3", /ended with status 3/],
    ["prints rows and then fails", "echo 'CLOSE-WAIT 1 0 127.0.0.1:1 127.0.0.1:2'; exit 1", /status 1/],
    ["is killed", "kill -9 $$", /Cannot list the sockets/],
    ["prints garbage", "echo 'cannot open netlink socket'", /has no state/],
    ["prints a row that is cut off", "printf 'CLOSE-WAIT 1 0 127.0.0.1:1 127'", /cut off/],
    ["prints bytes without end", "head -c 100000 /dev/zero", /no end/],
  ];
  test.each(failing)("throws when ss %s", async (_name, script, problem) => {
    await expect(countSockets({ signal, env: fakeSs(script) })).rejects.toThrow(problem);
  });

  test("throws when there is no ss", async () => {
    const counted = countSockets({ signal, env: { PATH: join(folder, "nothing") } });
    await expect(counted).rejects.toThrow("ss is not installed");
  });

  test("throws when ss does not end, as soon as its time is over", async () => {
    const over = new AbortController();
    const counted = countSockets({ signal: over.signal, env: fakeSs("exec sleep 60") });
    over.abort();
    await expect(counted).rejects.toThrow("did not end in time");
  });

  test("throws when the kernel's counters are not there", async () => {
    const env = fakeSs("exit 0");
    await expect(countSockets({ signal, env, procNet: folder })).rejects.toThrow("sockstat");
  });

  test("takes a listing without rows for none in CLOSE-WAIT", async () => {
    const { total, closeWait } = await countSockets({ signal, env: fakeSs("exit 0") });
    expect(closeWait).toBe(0);
    expect(total).toBeGreaterThanOrEqual(0);
  });

  test(`finds ss without a PATH${WITHOUT_SS}`, async () => {
    const counted = countSockets({ signal, env: {} });
    if (WITHOUT_SS === "") expect((await counted).total).toBeGreaterThanOrEqual(0);
    else await expect(counted).rejects.toThrow("ss is not installed");
  });

  test("takes all rows for the total where ss lists every state all the same, its heading aside", async () => {
    const rows = [
      "State      Recv-Q Send-Q Local Address:Port Peer Address:Port",
      "LISTEN     0      128    0.0.0.0:22         0.0.0.0:*",
      "CLOSE-WAIT 1      0      10.0.0.1:443       10.0.0.2:50000",
      "CLOSE-WAIT 1      0      [::1]:443          [::1]:50000",
      "ESTAB      0      0      [::1]:CLOSE-WAIT   [::1]:50001",
    ];
    const listing = join(folder, "listing");
    writeFileSync(listing, `${rows.join("\n")}\n`);
    const counted = await countSockets({ signal, env: fakeSs(`/bin/cat ${listing}`) });
    expect(counted).toEqual({ total: 4, closeWait: 2 });
  });
});

describe("parseCounters()", () => {
  const four = "sockets: used 17\nTCP: inuse 10 orphan 1 tw 5 alloc 30 mem 307\nUDP: inuse 0 mem 0\n";
  test("adds what both families use and the waiting ones", () => {
    expect(parseCounters(four, "TCP6: inuse 7\nUDP6: inuse 0\n")).toBe(22);
    expect(parseCounters(four, null)).toBe(15);
  });
  test("knows nothing when a counter is missing", () => {
    expect(parseCounters("", null)).toBeNull();
    expect(parseCounters(four, "UDP6: inuse 0\n")).toBeNull();
    expect(parseCounters("UDP: inuse 0 mem 0\n", "TCP6: inuse 7\n")).toBeNull();
  });
});

/** An environment whose `ss` is a script. */
function fakeSs(script: string): { PATH: string } {
  const path = mkdtempSync(join(folder, "bin"));
  writeFileSync(join(path, "ss"), `#!/bin/sh\nPATH=/usr/bin:/bin\n${script}\n`);
  chmodSync(join(path, "ss"), 0o755);
  return { PATH: path };
}
