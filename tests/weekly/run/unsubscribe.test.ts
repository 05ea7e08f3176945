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

test("an e-mail that is sent once more has the same bytes", async () => {
  const { tenantId } = await seedOwner(fixture.db.sql, { networks: [] });
  const throttled = {
    status: 429,
    json: { statusCode: 429, name: "rate_limit_exceeded", message: "Too many requests" },
    headers: { "retry-after": "0" },
  };
  fixture.email.routes.send.next(throttled);
  const before = fixture.email.ledger.length;
  await fixture.run({ tenantId, unsubscribe: "mailto:sair@mail.example?subject=Sair" });
  const [first, second, ...others] = fixture.email.ledger.slice(before);
  expect(others).toEqual([]);
  expect(second?.rawBody).toBe(first!.rawBody);
  expect(second?.headers["idempotency-key"]).toBe(first!.headers["idempotency-key"]!);
  expect(first?.body).toMatchObject({
    headers: { "List-Unsubscribe": "<mailto:sair@mail.example?subject=Sair>" },
  });
});
