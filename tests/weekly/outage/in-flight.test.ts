/** An owner whose call is on its way when the run begins to wait for the application. */
import { expect, test } from "bun:test";
import type { Scripted } from "../../standins/standin.ts";
import { AWAY, connectionOf, lackingNetworks, seedManyOwners } from "../support/outage.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";
import { virtualTime } from "../support/virtual-time.ts";

const shared = sharedWeekly();
/** One whose call is held, ten that trip the breaker with two networks each, and one for the probe. */
const OWNERS = 12;
const TRIPPING = 20;

test("an owner whose call ends in a wait is put back, and asked for nothing more until the wait is over", async () => {
  const weekly = shared();
  await seedManyOwners(weekly, OWNERS);
  const { analysis } = weekly.application.routes;
  const time = virtualTime();
  const release = Promise.withResolvers<void>();
  const asked: string[] = [];
  let isAway = true;
  analysis.scriptByBody = (entry): Scripted | undefined => {
    if (!isAway) return undefined;
    asked.push(connectionOf(entry));
    if (asked.length === 1 + TRIPPING) release.resolve();
    return connectionOf(entry) === asked[0] ? { accept: { status: 503, json: { error: "away" } } } : AWAY;
  };
  const usual = weekly.onAnalyze;
  weekly.onAnalyze = async (body) => await (isAway ? release.promise : usual(body));
  const sleep: typeof time.sleep = (...args) => {
    isAway = false;
    return time.sleep(...args);
  };

  const summary = await weekly.run({ patienceMinutes: 15, concurrency: 2 }, { ...time, sleep });

  const ofHeld = await weekly.db.sql<{ id: string }[]>`
    select id from social_connections
    where user_id = (select user_id from social_connections where id = ${asked[0]!})`;
  expect(ofHeld).toHaveLength(2);
  expect(asked.filter((id) => ofHeld.some((one) => one.id === id))).toEqual([asked[0]!]);
  expect(asked.length).toBeGreaterThanOrEqual(1 + TRIPPING);
  expect(summary).toMatchObject({ status: "success", reports: { completed: OWNERS, failed: 0 } });
  expect(await lackingNetworks(weekly)).toEqual({ completed: OWNERS, lacking: [] });
});
