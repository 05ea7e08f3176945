/** A state that cannot be written: a full disk, a directory that is missing or another account's. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { exitStatusOf } from "../../../../cli/framework/exit-status.ts";
import { openSqliteState } from "../../../../lib/webhook/state/sqlite/state.ts";
import { silentLog } from "../../../support/silent-log.ts";
import { sampleAlert } from "../../support/sample-alert.ts";
import { fillUp } from "../../support/state-fill.ts";
import { acceptAll, dueIds, retryAfter } from "../../support/state-fixture.ts";
import { RUNTIMES, startStateProcess } from "../../support/state-process.ts";

const MEGABYTE = 2 ** 20;
const NOBODY = 65_534;
const HEALED = {
  refused: expect.arrayContaining(["state_unavailable"]),
  isCheckRefused: true,
  keptOfAccepted: 1,
  isClaimFree: true,
  isCheckedAgain: true,
};

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "opsctl-full-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const open = (folder: string) => openSqliteState({ directory: folder, nowMs: Date.now, log: silentLog });
const request = (...fingerprints: string[]) =>
  fingerprints.map((fingerprint) => sampleAlert({ fingerprint }));

/** Makes each alert of a fingerprint fail in the file itself. */
function failOn(fingerprint: string, failure: string): void {
  const db = new DatabaseSync(join(directory, "state.db"));
  db.exec(`create trigger ${fingerprint} before insert on outbox when new.fingerprint = '${fingerprint}'
    begin select ${failure}; end`);
  db.close();
}

describe.each(Object.keys(RUNTIMES) as (keyof typeof RUNTIMES)[])("the state on %s", (runtime) => {
  test("that has no page left refuses whole requests, keeps the others, and goes on when there is room", async () => {
    const child = startStateProcess(runtime, "fill", directory);
    expect(await child.next()).toEqual(HEALED);
    await child.kill();
  });
});

describe("openSqliteState()", () => {
  test("refuses on a full disk and goes on when there is room", async () => {
    const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=4m,mode=0700", "tmpfs", directory]);
    // Without the right to mount a small disk, the limit on pages above stands for it: SQLite reports both alike.
    if (mounted.status !== 0) return;
    try {
      const ballast = join(directory, "ballast");
      writeFileSync(ballast, Buffer.alloc(MEGABYTE));
      const state = await open(directory);
      expect(await fillUp(state, () => rmSync(ballast))).toEqual(HEALED);
      await state.close();
    } finally {
      spawnSync("umount", ["-l", directory]);
    }
  });

  test("loses one request of those that wait together when only that one cannot be kept", async () => {
    const state = await open(directory);
    failOn("poison", "raise(abort, 'refused')");
    const outcomes = await state.accept([request("a"), request("b", "poison"), request("c")]);
    expect(outcomes).toMatchObject([
      { accepted: [{}] },
      { refused: "state_unavailable" },
      { accepted: [{}] },
    ]);
    expect(await state.latest("b")).toEqual({});
    expect(await dueIds(state, "issue")).toHaveLength(2);
    const [again] = await acceptAll(state, ...request("b"));
    expect(again?.issue.status).toBe("first");
    await state.close();
  });

  test("keeps what it has kept, and says so, when it fails altogether behind a request that cannot be kept", async () => {
    const state = await open(directory);
    const [first] = await acceptAll(state, ...request("first"));
    failOn("poison", "raise(abort, 'refused')");
    failOn("failure", "json('this is none')");
    const settled = state.settle(first!.messageRow, retryAfter(0));
    const requests = ["a", "poison", "failure", "b"].map((fingerprint) => request(fingerprint));
    const refused = { refused: "state_unavailable" };
    expect(await state.accept(requests)).toMatchObject([{ accepted: [{}] }, refused, refused, refused]);
    await settled;
    expect((await state.latest("first")).message?.attempts).toBe(1);
    expect((await state.latest("a")).message?.status).toBe("queued");
    expect(await state.latest("b")).toEqual({});
    await state.close();
  });

  test("counts nothing twice that was tried again without the request that cannot be kept", async () => {
    const limits = { rows: 6, bytes: MEGABYTE };
    const state = await openSqliteState({ directory, nowMs: Date.now, log: silentLog, limits });
    failOn("poison", "raise(abort, 'refused')");
    await state.accept([request("a"), request("poison")]);
    const more = await state.accept(["b", "c", "d"].map((fingerprint) => request(fingerprint)));
    expect(more).toMatchObject([{ accepted: [{}] }, { accepted: [{}] }, { refused: "outbox_full" }]);
    await state.close();
  });

  test("names a directory and a file that it may not write to", async () => {
    await (await open(directory)).close();
    chmodSync(directory, 0o555);
    chmodSync(join(directory, "state.db"), 0o444);
    chmodSync(join(directory, "state.lock"), 0o444);
    await expect(asNobody(() => open(directory))).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
    chmodSync(directory, 0o755);
    rmSync(join(directory, "state.lock"));
    chmodSync(directory, 0o555);
    await expect(asNobody(() => open(directory))).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
    chmodSync(directory, 0o755);
    chmodSync(join(directory, "state.db"), 0o600);
    await (await open(directory)).close();
  });

  test("names a directory that is missing or none, as something to be made ready", async () => {
    const missing = open(join(directory, "missing"));
    await expect(missing).rejects.toMatchObject({
      code: "STATE_UNAVAILABLE",
      message: `Cannot open the state in ${join(directory, "missing")}: the directory is missing`,
      hint: expect.stringContaining("OPSCTL_STATE_DIR"),
    });
    writeFileSync(join(directory, "file"), "");
    await expect(open(join(directory, "file"))).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
    mkdirSync(join(directory, "state.db"));
    await expect(open(directory)).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
    expect(exitStatusOf("STATE_UNAVAILABLE")).toBe(3);
  });
});

/** Runs `work` without the right to write where only root may. */
async function asNobody<T>(work: () => Promise<T>): Promise<T> {
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(NOBODY);
  try {
    return await work();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}
