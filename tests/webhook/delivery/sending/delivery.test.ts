import { describe, expect, test } from "bun:test";
import type { AttemptResult, LookUpResult } from "../../../../lib/webhook/delivery/attempts/attempt.ts";
import { Channel } from "../../../../lib/webhook/delivery/sending/channel.ts";
import { Delivery } from "../../../../lib/webhook/delivery/sending/delivery.ts";
import { createWebhookMetrics } from "../../../../lib/webhook/metrics/metrics.ts";
import type { DueRow, Settlement } from "../../../../lib/webhook/state/contract.ts";
import { silentLog } from "../../../support/silent-log.ts";
import { dueRow } from "../../support/due-row.ts";

const DELIVERED = { status: "delivered", reference: "id", url: null } as const;
const UNREADABLE = { status: "dead", code: "alert_unreadable" } as const;
const fail = () => Promise.reject(new Error("disk full"));

/** A delivery whose parts a test replaces; all that it did is in `seen`, in order. */
function opened(found: LookUpResult | null = null) {
  const seen: string[] = [];
  const ended: (Settlement | null)[] = [];
  let clockMs = 0;
  const parts = {
    isOpen: true,
    settle: async (): Promise<void> => {},
    begin: (): Promise<boolean> => Promise.resolve(true),
    attempt: async (): Promise<AttemptResult> => DELIVERED,
    textOf: () => "text",
    lookUp: found && (() => Promise.resolve(found)),
  };
  const common = { kind: "message" as const, log: silentLog, monotonicMs: () => clockMs, random: () => 0 };
  const channel = new Channel(common);
  const dependencies = {
    ...common,
    state: {
      begin: (row: number) => {
        seen.push(`begin ${row}`);
        return parts.begin();
      },
      settle: (row: number, { status }: Settlement) => {
        seen.push(`settle ${row} ${status}`);
        return parts.settle();
      },
      membersOf: () => Promise.resolve([]),
    },
    attempt: ({ text }: DueRow) => {
      seen.push(`send ${text}`);
      return parts.attempt();
    },
    lookUp: parts.lookUp && (() => parts.lookUp!()),
    textOf: () => parts.textOf(),
    metrics: createWebhookMetrics({ version: "test" }),
    sleep: async (ms: number) => {
      seen.push(`sleep ${ms}`);
      clockMs += ms;
    },
    onEnded: (_row: number, settlement: Settlement | null) => void ended.push(settlement),
  };
  const ends = new AbortController();
  const delivery = new Delivery(dependencies, { channel, signal: ends.signal, isOpen: () => parts.isOpen });
  const deliver = (row: Partial<DueRow> = {}) => delivery.deliver([dueRow(row)]);
  return { parts, seen, ended, ends, channel, deliver };
}

describe("Delivery", () => {
  test("records that an attempt begins, makes it, and records its end", async () => {
    const { deliver, seen, ended } = opened();
    expect(await deliver()).toEqual({ settlement: DELIVERED, isSent: true });
    expect(seen).toEqual(["begin 1", "send text", "settle 1 delivered"]);
    expect(ended).toEqual([DELIVERED]);
  });

  test("records an end each second until the state takes it, and sends nothing again", async () => {
    const { deliver, parts, seen } = opened();
    let left = 2;
    parts.settle = () => {
      left -= 1;
      return left >= 0 ? fail() : Promise.resolve();
    };
    expect(await deliver()).toEqual({ settlement: DELIVERED, isSent: true });
    const settle = "settle 1 delivered";
    expect(seen).toEqual(["begin 1", "send text", settle, "sleep 1000", settle, "sleep 1000", settle]);
  });

  test.each(["starts nothing more", "gives up what is on its way"])(
    "tries once to record an end when the service %s",
    async (how) => {
      const { deliver, parts, seen, ended, ends } = opened();
      parts.settle = () => {
        if (how === "starts nothing more") parts.isOpen = false;
        else ends.abort();
        // A further one would be taken.
        parts.settle = () => Promise.resolve();
        return fail();
      };
      expect(await deliver()).toEqual({ settlement: null, isSent: true });
      expect(seen).toEqual(["begin 1", "send text", "settle 1 delivered"]);
      expect(ended).toEqual([null]);
    },
  );

  test.each([
    ["the state does not record that it begins", fail],
    ["the row does not wait any more", () => Promise.resolve(false)],
  ])("makes no attempt when %s", async (_why, begin) => {
    const { deliver, parts, seen, ended } = opened();
    parts.begin = begin;
    expect(await deliver()).toEqual({ settlement: null, isSent: false });
    expect(seen).toEqual(["begin 1", "sleep 1000"]);
    expect(ended).toEqual([null]);
  });

  test("a row of which no text can be made is given up without an attempt, and one with which none can be made after it", async () => {
    const textless = opened();
    textless.parts.textOf = () => {
      throw new TypeError("canary");
    };
    expect(await textless.deliver()).toEqual({ settlement: UNREADABLE, isSent: false });
    expect(textless.seen).toEqual(["settle 1 dead"]);
    const thrown = opened();
    thrown.parts.attempt = () => Promise.reject(new TypeError("canary"));
    expect(await thrown.deliver()).toEqual({ settlement: UNREADABLE, isSent: true });
    expect(thrown.seen).toEqual(["begin 1", "send text", "settle 1 dead"]);
  });

  const AWAY: LookUpResult = { status: "unanswered", code: "gateway_unreachable" };
  const DOUBT = { text: "old", unclear: 1, firstBegunAtMs: 0 };
  const AGAIN = { status: "retry", code: "gateway_unreachable", isUnclear: false } as const;

  test("a row in doubt waits ten minutes of trying for a peer that answers no question, and the channel with it", async () => {
    const { deliver, seen, channel } = opened(AWAY);
    const triedMs = 10 * 60_000 - 1;
    for (let times = 0; times < 3; times += 1)
      expect(await deliver({ ...DOUBT, triedMs })).toMatchObject({ settlement: AGAIN, isSent: false });
    expect(seen).toEqual(["settle 1 retry", "settle 1 retry", "settle 1 retry"]);
    expect([channel.isProbing, channel.isPaused]).toEqual([true, true]);
    expect(await deliver({ ...DOUBT, triedMs: triedMs + 1 })).toMatchObject({ isSent: true });
    expect(seen.slice(3)).toEqual(["begin 1", "send old", "settle 1 delivered"]);
  });

  test("one that was sent too often waits for as long as it takes, and is in doubt when nothing is found", async () => {
    const row = { ...DOUBT, unclear: 3, triedMs: 24 * 3_600_000 };
    const away = opened(AWAY);
    expect(await away.deliver(row)).toMatchObject({ settlement: AGAIN, isSent: false });
    expect(await away.deliver({ ...row, isUnsettled: true })).toMatchObject({
      settlement: { ...AGAIN, isUnclear: true },
    });
    const settlement = { status: "in_doubt", code: "delivery_in_doubt" } as const;
    for (const status of ["not_found", "absent"] as const)
      expect(await opened({ status }).deliver(row)).toEqual({ settlement, isSent: false });
  });

  test("one that an outage left unanswered is sent again, whether the peer can be asked or not, unless it is found", async () => {
    const row = { text: "old", firstBegunAtMs: 0, unansweredForMs: 40_000 };
    for (const found of [AWAY, { status: "not_found" } as const]) {
      const { deliver, seen } = opened(found);
      expect(await deliver(row)).toMatchObject({ isSent: true });
      expect(seen).toEqual(["begin 1", "send old", "settle 1 delivered"]);
    }
    const { deliver, seen } = opened(DELIVERED);
    expect(await deliver(row)).toEqual({ settlement: DELIVERED, isSent: false });
    expect(seen).toEqual(["settle 1 delivered"]);
  });
});
