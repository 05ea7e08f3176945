import { describe, expect, test } from "bun:test";
import {
  type PageState,
  readStateFacts,
  SHOWN_ALERTS,
  SHOWN_LOST,
} from "../../../../lib/webhook/http/page/read-page.ts";
import { lostRow, recentAlert, stateFacts } from "../../support/page-facts.ts";

function stateWith(dead: number, changes: Partial<PageState> = {}): PageState {
  const { stats, holds } = stateFacts();
  return {
    stats: async () => ({ ...stats, message: { ...stats.message, dead } }),
    check: async () => {},
    holds: async () => holds,
    recent: async (limit) => Array.from({ length: limit }, () => recentAlert()),
    hourly: async (hours) => Array.from({ length: hours }, () => 1),
    listDead: async () => {
      throw new Error("not to be read");
    },
    movedAside: null,
    ...changes,
  };
}

describe("readStateFacts()", () => {
  test("asks for what the page shows, and for no list of nothing", async () => {
    const { recent, hours, lost, canAccept } = await readStateFacts(stateWith(0));
    expect([recent.length, hours.length, lost, canAccept]).toEqual([SHOWN_ALERTS, 192, [], true]);
  });

  test("takes the newest of what was given up", async () => {
    const rows = Array.from({ length: 60 }, (_, at) =>
      lostRow({ id: at, diedAt: `2026-03-01T00:00:${String(at).padStart(2, "0")}Z` }),
    );
    const { lost } = await readStateFacts(stateWith(60, { listDead: async () => rows }));
    expect(lost!.map(({ id }) => id)).toEqual(Array.from({ length: SHOWN_LOST }, (_, at) => 59 - at));
  });

  test("does not read a list that is too long", async () => {
    expect((await readStateFacts(stateWith(5_001))).lost).toBeNull();
    expect((await readStateFacts(stateWith(5_000, { listDead: async () => [] }))).lost).toEqual([]);
  });

  test("tells a state that takes nothing from one that does not answer", async () => {
    const broken = async () => {
      throw new Error("disk full");
    };
    expect((await readStateFacts(stateWith(0, { check: broken }))).canAccept).toBe(false);
    await expect(readStateFacts(stateWith(0, { recent: broken }))).rejects.toThrow("disk full");
  });
});
