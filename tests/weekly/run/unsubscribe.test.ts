import { afterAll, beforeAll, expect, test } from "bun:test";
import { seedOwner } from "../../support/seed.ts";
import { type WeeklyFixture, weeklyFixture } from "../support/weekly-fixture.ts";

const ADDRESS = "https://app.example/sair";

let fixture: WeeklyFixture;
beforeAll(async () => {
  fixture = await weeklyFixture();
});
afterAll(async () => await fixture[Symbol.asyncDispose]());

test("a run's e-mails say how to stop them where there is a way, and nothing otherwise", async () => {
  for (const unsubscribe of [ADDRESS, null]) {
    const { tenantId } = await seedOwner(fixture.db.sql, { networks: [] });
    const { exitCode } = await fixture.run({ tenantId, unsubscribe });
    expect(exitCode).toBe(0);
    const { headers, html, text } = fixture.email.accepted.at(-1)!;
    expect(headers?.["List-Unsubscribe"]).toBe(unsubscribe === null ? undefined : `<${unsubscribe}>`);
    expect([html!.includes(ADDRESS), text!.includes(ADDRESS)]).toEqual(
      unsubscribe === null ? [false, false] : [true, true],
    );
  }
  expect(fixture.email.accepted).toHaveLength(2);
});
