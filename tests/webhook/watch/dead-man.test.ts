import { describe, expect, test } from "bun:test";
import type { PingOutcome } from "../../../lib/providers/ping.ts";
import { DeadMan } from "../../../lib/webhook/watch/dead-man.ts";
import { silentLog } from "../../support/silent-log.ts";

const signal = new AbortController().signal;
const fails = async () => {
  throw new Error("no disk");
};

function deadMan() {
  const seen = {
    pings: [] as boolean[],
    lines: [] as unknown[],
    outcome: { status: "sent" } as PingOutcome,
    isSet: true,
    nowMs: 0,
    isLeading: true,
    isAcknowledged: true,
    oldestCriticalAgeMs: null as number | null,
    check: async (): Promise<void> => {},
    lead: async () => false,
  };
  const man = new DeadMan({
    state: {
      check: () => seen.check(),
      lead: () => seen.lead(),
      stats: async () => ({ oldestCriticalAgeMs: seen.oldestCriticalAgeMs }) as never,
    },
    ping: () =>
      seen.isSet
        ? async (isWell) => {
            seen.pings.push(isWell);
            return seen.outcome;
          }
        : null,
    isLeading: () => seen.isLeading,
    isAcknowledged: () => seen.isAcknowledged,
    log: { ...silentLog, warn: (msg, fields) => void seen.lines.push([msg, fields]) },
    monotonicMs: () => seen.nowMs,
  });
  return { man, seen, beat: () => man.beat(signal) };
}

describe("DeadMan.beat()", () => {
  test("is well while alerts can be accepted and nothing critical waits", async () => {
    const { seen, beat } = deadMan();
    await beat();
    seen.isLeading = false;
    await beat();
    seen.oldestCriticalAgeMs = 599_999;
    await beat();
    expect(seen.pings).toEqual([true, true, true]);
    expect(seen.lines).toEqual([]);
  });

  test("is not while a critical alert waits for ten minutes, nothing can be accepted, or no one knows who leads", async () => {
    const { seen, beat } = deadMan();
    seen.oldestCriticalAgeMs = 600_000;
    await beat();
    seen.oldestCriticalAgeMs = null;
    seen.check = fails;
    await beat();
    seen.check = async () => {};
    seen.isLeading = false;
    seen.lead = fails;
    await beat();
    await beat();
    expect(seen.pings).toEqual([false, false, false, false]);
    expect(seen.lines.map((line) => (line as [string, object])[1])).toEqual([
      { trouble: "critical_alert_waits" },
      { trouble: "cannot_accept" },
      { trouble: "leader_unknown" },
    ]);
    seen.lead = async () => false;
    await beat();
    expect(seen.pings.at(-1)).toBe(true);
  });

  test("is not while WhatsApp acknowledges none of the newest messages", async () => {
    const { seen, beat } = deadMan();
    seen.isAcknowledged = false;
    await beat();
    seen.isAcknowledged = true;
    await beat();
    expect(seen.pings).toEqual([false, true]);
    expect(seen.lines).toEqual([
      ["The ping says that the service is not well", { trouble: "messages_unacknowledged" }],
    ]);
  });

  test("logs pings that fail once an hour", async () => {
    const { seen, beat } = deadMan();
    seen.outcome = { status: "failed", code: "http_404" };
    for (let minute = 0; minute < 121; minute += 1) {
      await beat();
      seen.nowMs += 60_000;
    }
    expect(seen.pings).toHaveLength(121);
    expect(seen.lines).toHaveLength(3);
    expect(seen.lines[0]).toEqual(["The ping of OPSCTL_PING_URL fails", { code: "http_404" }]);
  });

  test("asks the state nothing where no ping is set up", async () => {
    const { seen, beat } = deadMan();
    seen.isSet = false;
    let asked = 0;
    seen.check = async () => {
      asked += 1;
    };
    await beat();
    expect([asked, seen.pings]).toEqual([0, []]);
  });
});
