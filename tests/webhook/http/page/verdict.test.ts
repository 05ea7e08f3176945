import { describe, expect, test } from "bun:test";
import { holdOf, pageVerdict, type Reason } from "../../../../lib/webhook/http/page/verdict.ts";
import type { KindStats, OutboxKind, OutboxStats } from "../../../../lib/webhook/state/contract.ts";
import { NOW_MS, pageFacts, stateFacts, watchView } from "../../support/page-facts.ts";

const MINUTE_MS = 60_000;
const NO_HOLDS = { message: null, issue: null, comment: null };

function statsWith(kind: OutboxKind, rows: Partial<KindStats>, more: Partial<OutboxStats> = {}) {
  const { stats } = stateFacts();
  return { stats: { ...stats, ...more, [kind]: { ...stats[kind], ...rows } } };
}

/** What is wrong, and the level that comes of it. */
function judged(facts: Parameters<typeof pageFacts>[0]): [string, ...Reason["status"][]] {
  const { level, reasons } = pageVerdict(pageFacts(facts));
  return [level, ...reasons.map(({ status }) => status)];
}

describe("pageVerdict()", () => {
  test("is in order on a quiet night, and while another process delivers", () => {
    expect(judged({})).toEqual(["ok"]);
    expect(judged({ isLeading: false })).toEqual(["ok"]);
  });

  test.each<[string, Parameters<typeof pageFacts>[0], [string, ...Reason["status"][]]]>([
    ["the state is away", { state: null }, ["bad", "state_away"]],
    ["nothing can be accepted", { state: { canAccept: false } }, ["bad", "not_accepting"]],
    ["the state was moved aside", { state: { movedAside: "/x" } }, ["warn", "moved_aside"]],
    ["the service is stopping", { isStopping: true }, ["warn", "stopping"]],
    ["messages are held", { stops: { ...NO_HOLDS, message: "x" } }, ["bad", "held"]],
    ["issues are held", { stops: { ...NO_HOLDS, issue: "x" } }, ["warn", "held"]],
    [
      "messages were held before this process",
      { state: { holds: { ...NO_HOLDS, message: { code: "x", sinceMs: NOW_MS } } } },
      ["bad", "held"],
    ],
    ["two messages in a row are not acknowledged", { watch: watchView({ newestUnacknowledged: 2 }) }, ["ok"]],
    [
      "three messages in a row are not acknowledged",
      { watch: watchView({ newestUnacknowledged: 3 }) },
      ["bad", "unacknowledged"],
    ],
    [
      "nothing can be read, and nothing is acknowledged",
      { watch: watchView({ newestUnacknowledged: 3 }), state: null },
      ["bad", "state_away", "unacknowledged"],
    ],
    [
      "a post from elsewhere was refused for its secret",
      { secretRefusedAtMs: NOW_MS },
      ["warn", "secret_refused"],
    ],
    ["something was given up", { state: statsWith("issue", { dead: 1 }) }, ["warn", "lost"]],
    ["something is in doubt", { state: statsWith("message", { inDoubt: 1 }) }, ["warn", "lost"]],
  ])("%s", (_what, facts, expected) => {
    expect(judged(facts)).toEqual(expected);
  });

  test.each<[OutboxKind, number, [string, ...Reason["status"][]]]>([
    ["message", 2, ["ok"]],
    ["message", 2.01, ["warn", "waits"]],
    ["message", 10, ["warn", "waits"]],
    ["message", 10.01, ["bad", "waits"]],
    ["issue", 10, ["ok"]],
    ["issue", 10.01, ["warn", "waits"]],
    ["comment", 10.01, ["warn", "waits"]],
  ])("a waiting %s of %p minutes", (kind, minutes, expected) => {
    const rows = { queued: 1, oldestQueuedAgeMs: minutes * MINUTE_MS };
    expect(judged({ state: statsWith(kind, rows) })).toEqual(expected);
  });

  test("a critical alert that waits more than three minutes is bad, and stands for the slow message", () => {
    const rows = { queued: 1, oldestQueuedAgeMs: 4 * MINUTE_MS };
    const withCritical = (minutes: number) =>
      judged({ state: statsWith("message", rows, { oldestCriticalAgeMs: minutes * MINUTE_MS }) });
    expect(withCritical(3)).toEqual(["warn", "waits"]);
    expect(withCritical(3.01)).toEqual(["bad", "critical_waits"]);
  });

  test("tells the worst first", () => {
    const rows = { queued: 1, dead: 1, oldestQueuedAgeMs: 11 * MINUTE_MS };
    expect(judged({ isStopping: true, state: { ...statsWith("message", rows), canAccept: false } })).toEqual([
      "bad",
      "not_accepting",
      "waits",
      "stopping",
      "lost",
    ]);
  });
});

describe("holdOf()", () => {
  test("knows since when where the state does, and goes without the state", () => {
    const stops = { ...NO_HOLDS, message: "now" };
    const holds = { ...NO_HOLDS, message: { code: "then", sinceMs: 5 } };
    expect(holdOf(pageFacts({ stops, state: { holds } }), "message")).toEqual({ code: "then", sinceMs: 5 });
    expect(holdOf(pageFacts({ stops, state: null }), "message")).toEqual({ code: "now", sinceMs: null });
    expect(holdOf(pageFacts({ stops }), "issue")).toBeNull();
  });
});
