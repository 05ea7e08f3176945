import { expect, test } from "bun:test";
import { noPace } from "../../lib/platform/pace.ts";
import { seedOwner } from "../seed.ts";
import { weeklyFixture } from "./weekly-fixture.ts";

test("deliver() gives a throttled message its turn in the pace again before each repeat", async () => {
  await using weekly = await weeklyFixture();
  await seedOwner(weekly.db.sql);
  const throttled = { status: 429, json: { name: "rate_limit_exceeded" }, headers: { "retry-after": "0" } };
  weekly.email.routes.send.next(throttled, throttled);
  const events: string[] = [];
  weekly.email.routes.send.script = () => void events.push("send");
  const emailPace = {
    ...noPace,
    turn: async () => {
      events.push("turn");
      return () => void events.push("release");
    },
  };

  const summary = await weekly.run({}, { emailPace });

  expect(summary.email).toMatchObject({ sent: 1, failed: 0 });
  expect(weekly.email.routes.send.calls).toHaveLength(3);
  expect(events.filter((event) => event === "turn")).toHaveLength(3);
  expect(events.filter((event) => event === "release")).toHaveLength(3);
});
