/** Floods: how soon the worst alert is out, how many messages the phone gets, and that every alert is told. */
import { afterEach, describe, expect, test } from "bun:test";
import type { Alert } from "../../../../lib/webhook/alert/alert.ts";
import { type DispatcherFixture, type Sent, startDispatcher } from "../../support/dispatcher-fixture.ts";
import { retry } from "../../support/retry.ts";
import { resolvedAlert, sampleAlert } from "../../support/sample-alert.ts";
import { MINUTE_MS, SECOND_MS } from "../../support/state-fixture.ts";

let run: DispatcherFixture;
afterEach(async () => await run.close());

const host = (n: number) => `h${String(n).padStart(5, "0")}`;
const about = (n: number, changes: Partial<Alert> = {}): Partial<Alert> => ({
  fingerprint: `f${n}`,
  labels: { alertname: "Regra", severity: "warning", instance: host(n) },
  ...changes,
});
const critical = sampleAlert({
  fingerprint: "worst",
  severity: "critical",
  labels: { alertname: "Disco Raiz Baixo", severity: "critical", instance: "main" },
});

async function waitsFor(kind: "message" | "issue"): Promise<number> {
  return (await run.state.stats())[kind].queued;
}

async function allOut(kind: "message" | "issue", stepMs: number): Promise<void> {
  for (let before = Number.POSITIVE_INFINITY; ; ) {
    const left = await waitsFor(kind);
    if (left === 0) return;
    if (left >= before) throw new Error(`${left} of ${kind} wait and nothing moves`);
    before = left;
    await run.advance(stepMs);
  }
}

/** The most that arrived within any minute. */
function mostAMinute(sent: readonly Sent[]): number {
  const times = sent.map(({ atMs }) => atMs);
  return Math.max(...times.map((start, at) => times.slice(at).filter((ms) => ms < start + MINUTE_MS).length));
}

function toldHosts(): Map<string, number> {
  const told = new Map<string, number>();
  for (const { text } of run.phone)
    for (const [name] of text.matchAll(/\bh\d{5}\b/g)) told.set(name, (told.get(name) ?? 0) + 1);
  return told;
}

describe("a flood", () => {
  test("of 2,000 that fire and resolve: each is told, the critical one within seconds, at the usual pace", async () => {
    run = await startDispatcher();
    await run.accept(...Array.from({ length: 2_000 }, (_, n) => sampleAlert(about(n))));
    await run.accept(...Array.from({ length: 2_000 }, (_, n) => resolvedAlert(about(n))));
    await run.advance(30 * SECOND_MS);
    const posted = 30 * SECOND_MS;
    await run.accept(critical);
    await run.advance(10 * SECOND_MS);
    expect(run.phone.find(({ text }) => text.includes("main"))?.atMs).toBeLessThan(posted + 10 * SECOND_MS);
    await run.advance(4 * MINUTE_MS);
    // The installed pace: 30 in any minute, the first ten at once.
    expect(mostAMinute(run.phone)).toBeLessThanOrEqual(30);
    expect(run.phone.filter(({ atMs }) => atMs === 0)).toHaveLength(10);
    expect(run.phone.length).toBeGreaterThanOrEqual(28 * 4);
    await run.restart(0, { messagesPerMinute: 60_000 });
    await allOut("message", 10 * SECOND_MS);
    expect(run.phone).toHaveLength(4_001);
    expect([...toldHosts().values()].every((times) => times >= 2)).toBe(true);
    expect(toldHosts().size).toBe(2_000);
  });

  test("of 10,000 with digests: told within minutes, each by one line, the critical one by itself within seconds", async () => {
    run = await startDispatcher({ digestAfterSeconds: 120 });
    await run.accept(...Array.from({ length: 10_000 }, (_, n) => sampleAlert(about(n))));
    await run.advance(30 * SECOND_MS);
    await run.accept(critical);
    await run.advance(10 * SECOND_MS);
    const alone = run.phone.find(({ text }) => text.includes("main"))!;
    expect(alone.atMs).toBeLessThan(40 * SECOND_MS);
    expect(alone.text).not.toContain("alertas nesta mensagem");
    await allOut("message", MINUTE_MS);
    expect(run.phone.at(-1)!.atMs).toBeLessThan(12 * MINUTE_MS);
    expect(mostAMinute(run.phone)).toBeLessThanOrEqual(30);
    expect(toldHosts().size).toBe(10_000);
    expect(run.metrics.render(await shown())).toContain('opsctl_webhook_sent_total{kind="whatsapp"} 10001');
  });

  test("is no new one for a process that starts in it: what went out in the minute before counts", async () => {
    run = await startDispatcher({ lookMs: SECOND_MS });
    await run.accept(...Array.from({ length: 60 }, (_, n) => sampleAlert(about(n))));
    await run.advance(20 * SECOND_MS);
    await run.restart();
    await run.accept(critical);
    await run.advance(SECOND_MS);
    for (const _ of Array(4)) {
      await run.restart();
      await run.advance(10 * SECOND_MS);
    }
    await run.advance(MINUTE_MS);
    expect(mostAMinute(run.phone)).toBeLessThanOrEqual(30);
    const worst = run.phone.find(({ text }) => text.includes("main"))!;
    expect(worst.atMs).toBeLessThan(30 * SECOND_MS);
  });

  test("of issues: a hundred at once, then 300 an hour, none lost", async () => {
    run = await startDispatcher({ messagesPerMinute: 60_000, lookMs: 10 * SECOND_MS });
    await run.accept(...Array.from({ length: 500 }, (_, n) => sampleAlert(about(n))));
    await run.advance(MINUTE_MS);
    expect(run.issues.length).toBeGreaterThanOrEqual(100);
    expect(run.issues.length).toBeLessThanOrEqual(105);
    await run.advance(59 * MINUTE_MS);
    expect(run.issues.length).toBeGreaterThanOrEqual(399);
    expect(run.issues.length).toBeLessThanOrEqual(401);
    await run.restart();
    await run.advance(10 * SECOND_MS);
    expect(run.issues.length).toBeLessThanOrEqual(403);
    await allOut("issue", 10 * MINUTE_MS);
    expect(run.issues).toHaveLength(500);
  });
});

async function shown() {
  const stats = await run.state.stats();
  const { stops } = run.dispatcher;
  return {
    stats,
    stops,
    isLeading: true,
    movedAside: false,
    watch: { gatewayOpen: null, pendingMessages: null, newestUnacknowledged: null },
  };
}

describe("messages that are told together", () => {
  test("are those that would wait too long, a firing one and its end in one line, and no critical one", async () => {
    run = await startDispatcher({ digestAfterSeconds: 120, messagesPerMinute: 1 });
    await run.accept(sampleAlert(about(1)));
    await run.advance(SECOND_MS);
    expect(run.phone).toHaveLength(1);
    await run.accept(sampleAlert(about(20)), sampleAlert(about(21)));
    await run.advance(MINUTE_MS + 2 * SECOND_MS);
    // Two, one a minute, are at the limit: alone.
    expect(run.phone.map(({ text }) => text.includes("nesta mensagem"))).toEqual([false, false]);
    await run.accept(
      sampleAlert(about(30)),
      resolvedAlert(about(30)),
      sampleAlert(about(31, { severity: "CRITICAL" })),
    );
    await run.advance(3 * MINUTE_MS);
    const [worst, together] = run.phone.slice(2).map(({ text }) => text);
    expect(worst).toContain(host(31));
    expect(together).toContain("2 alertas nesta mensagem");
    expect(together!.match(/h00030/g)).toHaveLength(1);
    expect(await waitsFor("message")).toBe(0);
  });

  test("are sent again with the same bytes and the same alerts, and end together", async () => {
    const texts: (string | null)[] = [];
    let failures = 2;
    run = await startDispatcher({
      digestAfterSeconds: 1,
      messagesPerMinute: 30,
      async message(row) {
        texts.push(row.text);
        if (failures-- > 0) return retry("gateway_http_502", { peerDown: true });
        return { status: "delivered", reference: "one", url: null };
      },
    });
    const accepted = await run.accept(...[1, 2, 3].map((n) => sampleAlert(about(n))));
    await run.advance(SECOND_MS);
    await run.restart();
    await run.advance(5 * MINUTE_MS);
    expect(texts).toHaveLength(3);
    expect(texts[0]).toContain("3 alertas nesta mensagem");
    expect(texts[0]).toBe(texts[1]!);
    expect(texts[0]).toBe(texts[2]!);
    expect(await waitsFor("message")).toBe(0);
    for (const { alert } of accepted)
      expect((await run.state.latest(alert.fingerprint)).message).toMatchObject({ reference: "one" });
  });
});
