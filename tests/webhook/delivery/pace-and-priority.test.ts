/** How many messages the phone gets in a minute, and which ones go first. */
import { expect, test } from "bun:test";
import { alertOf, MINUTE_MS, onBothStores, type Sent, startService } from "../support/start-service.ts";

/** As installed: a burst of ten, then 30 a minute. */
const PACE = { messagesPerMinute: 30 };

const resolved = (name: string, severity = "warning") =>
  alertOf(name, { status: "resolved", labels: { severity } });
const many = (count: number, prefix = "f") =>
  Array.from({ length: count }, (_, at) => resolved(`${prefix}${at}`));

/** The most that arrived within any minute. */
function mostInAMinute(sent: readonly Sent[]): number {
  return Math.max(
    ...sent.map(
      ({ second: from }) => sent.filter(({ second }) => second >= from && second < from + 60).length,
    ),
  );
}

onBothStores(
  "a flood of messages goes out ten at once, then 30 a minute, also over restarts; a critical one is out within seconds",
  async (store) => {
    await using service = await startService({ store, ...PACE });
    await service.post(many(90));
    expect(service.messages.filter(({ second }) => second === 0)).toHaveLength(10);
    await service.advance(20_000);
    await service.restart();
    const postedAt = service.second;
    await service.post([resolved("worst", "critical")]);
    await service.advance(10_000);
    await service.kill();
    await service.advance(16_000);
    await service.restart();
    await service.advance(5 * MINUTE_MS, 2_000);
    expect(mostInAMinute(service.messages)).toBeLessThanOrEqual(40);
    for (const [at, { second }] of service.messages.entries())
      expect(second).toBeGreaterThanOrEqual(2 * (at - 10));
    expect(service.messages.find(({ name }) => name === "worst")!.second - postedAt).toBeLessThanOrEqual(10);
    expect(new Set(service.messages.map(({ name }) => name)).size).toBe(91);
    expect(service.messages).toHaveLength(91);
    // Nothing waits for longer than the pace asks for.
    expect(service.messages.at(-1)!.second).toBeLessThanOrEqual(240);
  },
);

test("the pace is kept without a burst where less than three a minute may go", async () => {
  await using service = await startService({ messagesPerMinute: 2 });
  await service.post(many(5));
  await service.advance(4 * MINUTE_MS, 2_000);
  expect(mostInAMinute(service.messages)).toBeLessThanOrEqual(2);
  expect(service.messages).toHaveLength(5);
});

onBothStores("messages that wait go out by severity, then in order of arrival", async (store) => {
  await using service = await startService({ store, messagesPerMinute: 3 });
  await service.post([resolved("blocker")]);
  for (const severity of ["info", "warning", "high", "critical", "CRITICAL", "none"])
    await service.post([resolved(`${severity}-1`, severity), resolved(`${severity}-2`, severity)]);
  await service.advance(6 * MINUTE_MS, 5_000);
  expect(service.messages.map(({ name }) => name)).toEqual([
    "blocker",
    ...["critical-1", "critical-2", "CRITICAL-1", "CRITICAL-2", "high-1", "high-2", "warning-1", "warning-2"],
    ...["info-1", "info-2", "none-1", "none-2"],
  ]);
});

onBothStores(
  "a gateway that is slow gets four messages at once and no more, and no issue waits for them",
  async (store) => {
    await using service = await startService({ store });
    service.gateway.routes.send.script = () => "hang";
    const { answer } = await service.postOnly(Array.from({ length: 10 }, () => alertOf()));
    answer.catch(() => {});
    await service.advance(5_000);
    expect([service.sends.length, service.tracker.issues.length]).toEqual([4, 10]);
  },
);
