import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import type { Scope } from "../../../lib/weekly/database/recipients.ts";
import { emailChannel } from "../../../lib/weekly/report/email-channel.ts";
import { evidenceOf } from "../../../lib/weekly/report/evidence.ts";
import { reasonText } from "../../../lib/weekly/texts/reason-text.ts";
import { setClock, WEEK } from "../../support/seed.ts";
import { type EvidenceFixture, evidenceFixture, type SendEvent } from "../support/evidence-fixture.ts";

let weekly: EvidenceFixture;
beforeAll(async () => {
  weekly = await evidenceFixture();
});
afterAll(() => weekly.close());

const NOON = "2026-11-18T12:00:00Z";
type EventSpec = { type: string; at?: string; id?: string; tenantId?: string };

/** Writes one send for each list of events; returns the owner. */
async function ownerWith(sends: { at?: string; events?: EventSpec[] }[], owner?: Scope): Promise<Scope> {
  const scope = owner ?? (await weekly.newOwner());
  const rows = sends.map((send) => ({ ...scope, emailId: randomUUID(), at: send.at ?? NOON }));
  const events = sends.flatMap((send, i) =>
    (send.events ?? []).map(
      (event): SendEvent => ({
        tenantId: scope.tenantId,
        emailId: rows[i]!.emailId,
        at: "2026-11-18T12:05:00Z",
        ...event,
      }),
    ),
  );
  await weekly.writeSends(rows, events);
  return scope;
}

async function channelOf(scope: Scope) {
  const { email } = evidenceOf(await weekly.read(scope));
  return emailChannel(email, WEEK);
}

async function metricsOf(scope: Scope) {
  return (await channelOf(scope)).metrics!;
}

describe("the cohort of the week's sends", () => {
  test("takes a send from the first microsecond of the week to the last, and no other", async () => {
    const scope = await ownerWith([
      { at: "2026-11-16T02:59:59.999999Z" },
      { at: "2026-11-16T03:00:00Z" },
      { at: "2026-11-23T02:59:59.999999Z" },
      { at: "2026-11-23T03:00:00Z" },
    ]);
    expect((await metricsOf(scope)).sends).toBe(2);
  });

  test("takes an event from the first microsecond of the week to the last, and no other", async () => {
    const events = [
      "2026-11-16T02:59:59.999999Z",
      "2026-11-16T03:00:00Z",
      "2026-11-23T02:59:59.999999Z",
      "2026-11-23T03:00:00Z",
    ].map((at) => ({ at: "2026-11-16T03:00:00Z", events: [{ type: "email.delivered", at }] }));
    expect(await metricsOf(await ownerWith(events))).toMatchObject({ sends: 4, delivered: 2, noEvent: 2 });
  });

  test("an open in this week of a send of the week before is not counted", async () => {
    const scope = await ownerWith([
      { at: "2026-11-15T12:00:00Z", events: [{ type: "email.opened" }] },
      { events: [{ type: "email.delivered" }] },
    ]);
    expect(await metricsOf(scope)).toMatchObject({ sends: 1, delivered: 1, opened: 0, openRate: 0 });
  });

  test("a click after the week leaves the state that was known at its end", async () => {
    const scope = await ownerWith([
      { events: [{ type: "email.opened" }, { type: "email.clicked", at: "2026-11-23T09:00:00Z" }] },
    ]);
    expect(await metricsOf(scope)).toMatchObject({ opened: 1, clicked: 0, openRate: 1, clickRate: 0 });
  });

  test("sends of another user or tenant, and events of another tenant, are nobody else's", async () => {
    const scope = await ownerWith([{ events: [{ type: "email.delivered" }] }]);
    await ownerWith([{ events: [{ type: "email.bounced" }] }], await weekly.newOwner(scope.tenantId));
    const stranger = await ownerWith([{ events: [{ type: "email.bounced" }] }]);
    await ownerWith([{ events: [{ type: "email.complained", tenantId: stranger.tenantId }] }], scope);
    // The same user id under another tenant, as a mirror could hold it.
    await ownerWith([{ events: [{ type: "email.failed" }] }], { ...scope, tenantId: stranger.tenantId });

    expect(await metricsOf(scope)).toMatchObject({
      sends: 2,
      delivered: 1,
      noEvent: 1,
      bounced: 0,
      complained: 0,
      failed: 0,
    });
  });
});

describe("the last known state of a send", () => {
  test("is its latest event, in whatever order the rows were written", async () => {
    const scope = await ownerWith([
      {
        events: [
          { type: "email.clicked", at: "2026-11-18T12:03:00.000002Z" },
          { type: "email.delivered", at: "2026-11-18T12:01:00Z" },
          { type: "email.opened", at: "2026-11-18T12:03:00.000001Z" },
        ],
      },
      {
        events: [
          { type: "email.delivered", at: "2026-11-18T12:04:00Z" },
          { type: "email.delivery_delayed", at: "2026-11-18T12:01:00Z" },
        ],
      },
    ]);
    expect(await metricsOf(scope)).toMatchObject({ clicked: 1, opened: 0, delivered: 1, delayed: 0 });
  });

  test("goes to the event with the larger id when two share the instant", async () => {
    const [small, large] = [randomUUID(), randomUUID()].toSorted() as [string, string];
    const scope = await ownerWith([
      {
        events: [
          { type: "email.complained", id: large },
          { type: "email.opened", id: small },
        ],
      },
    ]);
    expect(await metricsOf(scope)).toMatchObject({ complained: 1, opened: 0 });
  });

  test.each([
    ["email.delivered", "delivered", [1, 0, 0, 0]],
    ["email.opened", "opened", [1, 1, 0, 0]],
    ["email.clicked", "clicked", [1, 1, 1, 0]],
    ["email.complained", "complained", [1, 0, 0, 0]],
    ["email.bounced", "bounced", [0, 0, 0, 1]],
    ["email.failed", "failed", [0, 0, 0, 0]],
    ["email.delivery_delayed", "delayed", [0, 0, 0, 0]],
    ["email.suppressed", "suppressed", [0, 0, 0, 0]],
  ] as const)("%s counts as %s", async (type, name, [delivery, open, click, bounce]) => {
    const counts = {
      ...{
        delivered: 0,
        opened: 0,
        clicked: 0,
        bounced: 0,
        complained: 0,
        failed: 0,
        delayed: 0,
        suppressed: 0,
      },
      [name]: 1,
    };
    expect(await metricsOf(await ownerWith([{ events: [{ type }] }]))).toEqual({
      sends: 1,
      ...counts,
      noEvent: 0,
      deliveryRate: delivery,
      openRate: open,
      clickRate: click,
      bounceRate: bounce,
      reached: { delivered: delivery, opened: open, clicked: click },
    });
  });

  test("email.sent, and what nobody knows, is no state", async () => {
    const others = ["email.sent", "email.scheduled", "EMAIL.OPENED", "email.opened ", "", "opened"];
    const late = others.map((type) => ({ type, at: "2026-11-19T12:00:00Z" }));
    const scope = await ownerWith([{ events: [{ type: "email.opened" }, ...late] }, { events: late }]);
    expect(await metricsOf(scope)).toMatchObject({ sends: 2, opened: 1, noEvent: 1, openRate: 1 });
  });
});

describe("what a send has reached", () => {
  const at = (minute: number) => `2026-11-18T12:${String(minute).padStart(2, "0")}:00Z`;
  const inOrder = (...types: string[]) => [
    { events: types.map((type, i) => ({ type: `email.${type}`, at: at(i) })) },
  ];

  test.each([
    // What happened, then the last state, then delivered, opened, clicked.
    [["delivered", "opened", "clicked"], "clicked", [1, 1, 1]],
    [["delivered", "clicked", "opened"], "opened", [1, 1, 1]],
    [["clicked", "opened", "delivered"], "delivered", [1, 1, 1]],
    [["clicked"], "clicked", [1, 1, 1]],
    [["opened", "delivered"], "delivered", [1, 1, 0]],
    [["delivered", "opened", "complained"], "complained", [1, 1, 0]],
    [["delivered", "clicked", "complained"], "complained", [1, 1, 1]],
    [["complained"], "complained", [1, 0, 0]],
    [["complained", "delivered"], "delivered", [1, 0, 0]],
    [["opened", "bounced"], "bounced", [1, 1, 0]],
    [["delivery_delayed", "delivered"], "delivered", [1, 0, 0]],
    [["delivered", "delivery_delayed"], "delayed", [1, 0, 0]],
    [["delivery_delayed"], "delayed", [0, 0, 0]],
    [["bounced"], "bounced", [0, 0, 0]],
    [["failed"], "failed", [0, 0, 0]],
    [["suppressed"], "suppressed", [0, 0, 0]],
  ] as const)("stays, whatever came last: %j", async (types, last, [delivered, opened, clicked]) => {
    expect(await metricsOf(await ownerWith(inOrder(...types)))).toMatchObject({
      [last]: 1,
      reached: { delivered, opened, clicked },
      deliveryRate: delivered,
      openRate: opened,
      clickRate: clicked,
    });
  });

  test("counts only what happened inside the week", async () => {
    const scope = await ownerWith([
      {
        events: [
          { type: "email.delivered", at: "2026-11-18T12:05:00Z" },
          { type: "email.clicked", at: "2026-11-23T03:00:00Z" },
          { type: "email.opened", at: "2026-11-16T02:59:59.999999Z" },
        ],
      },
    ]);
    expect(await metricsOf(scope)).toMatchObject({ reached: { delivered: 1, opened: 0, clicked: 0 } });
  });
});

describe("sends without an event", () => {
  const known = { events: [{ type: "email.opened" }] };

  test("one of them makes the channel partial, and is left out of the rates", async () => {
    const channel = await channelOf(
      await ownerWith([known, known, { events: [{ type: "email.bounced" }] }, {}]),
    );
    expect(channel).toMatchObject({ coverageStatus: "partial", reason: "events_incomplete" });
    expect(channel.metrics).toMatchObject({
      ...{ sends: 4, noEvent: 1, opened: 2, bounced: 1 },
      ...{ deliveryRate: 0.6667, openRate: 0.6667, clickRate: 0, bounceRate: 0.3333 },
      reached: { delivered: 2, opened: 2, clicked: 0 },
    });
    expect(channel.insights.map(({ text }) => text)).toEqual([
      "1 dos seus 3 e-mails com informação de entrega voltou; vale revisar os endereços da lista " +
        "(1 sem essa informação fica fora da conta)",
      "2 dos seus 3 e-mails com informação de entrega foram abertos",
      "2 dos seus 3 e-mails com informação de entrega foram entregues",
    ]);
  });

  test.each([
    [1, 1, 1],
    [2, 2, 1],
    [1, 2, null],
    [2, 3, null],
    [3, 2, 1],
  ])("%p known and %p not: the open rate is %p", async (ofKnown, unknown, rate) => {
    const sends = [
      ...Array.from({ length: ofKnown }, () => known),
      ...Array.from({ length: unknown }, () => ({})),
    ];
    const channel = await channelOf(await ownerWith(sends));
    expect(channel).toMatchObject({ coverageStatus: "partial", reason: "events_incomplete" });
    const rates = { deliveryRate: rate, openRate: rate, bounceRate: rate === null ? null : 0 };
    const counts = { sends: ofKnown + unknown, noEvent: unknown, opened: ofKnown };
    expect(channel.metrics).toMatchObject({ ...counts, ...rates, reached: { opened: ofKnown } });
  });
});

test("what a colleague in the tenant sent does not count, and the text does not say that nobody sent", async () => {
  const owner = await weekly.newOwner();
  await ownerWith([{ events: [{ type: "email.opened" }] }], await weekly.newOwner(owner.tenantId));
  const channel = await channelOf(owner);
  expect(channel).toMatchObject({ status: "unavailable", reason: "no_sends_in_window", metrics: null });
  expect(reasonText("email", channel.reason!)).toBe(
    "Não registramos nenhum e-mail enviado por você nesta semana.",
  );
});

describe("what is not there", () => {
  test("no sends: the channel is unavailable, not zero", async () => {
    const scope = await ownerWith([{ at: "2026-11-15T12:00:00Z", events: [{ type: "email.opened" }] }]);
    expect(await channelOf(scope)).toEqual({
      status: "unavailable",
      coverageStatus: "unavailable",
      reason: "no_sends_in_window",
      metrics: null,
      insights: [],
      evidence: [],
    });
  });

  test("sends without a single event: only their number is known, and coverage is partial", async () => {
    const channel = await channelOf(await ownerWith([{}, { events: [{ type: "email.sent" }] }]));
    const reason = "no_events_in_window";
    expect(channel).toMatchObject({ status: "available", coverageStatus: "partial", reason });
    const { sends, reached, ...others } = channel.metrics!;
    expect(sends).toBe(2);
    expect(reached).toEqual({ delivered: null, opened: null, clicked: null });
    expect(Object.keys(others)).toHaveLength(13);
    expect(new Set(Object.values(others))).toEqual(new Set([null]));
  });

  test("a real zero stays zero", async () => {
    const delivered = { events: [{ type: "email.delivered" }] };
    const channel = await channelOf(await ownerWith(Array.from({ length: 10 }, () => delivered)));
    expect(channel).toMatchObject({ coverageStatus: "complete", reason: null });
    expect(channel.metrics).toMatchObject({ sends: 10, delivered: 10, opened: 0, openRate: 0, clickRate: 0 });
  });

  test("the evidence says what was counted, in which table and range", async () => {
    const channel = await channelOf(await ownerWith([{}, { events: [{ type: "email.opened" }] }]));
    const range = { rowId: null, rangeStart: WEEK.start, rangeEnd: WEEK.end, items: [] };
    expect(channel.evidence).toEqual([
      { sourceTable: "resend_email_sends", ...range, count: 2 },
      { sourceTable: "resend_email_events", ...range, count: 1 },
    ]);
  });
});

test("a retry on Monday evening gives the numbers of the morning", async () => {
  const scope = await ownerWith([{ events: [{ type: "email.delivered" }] }, {}]);
  const morning = await weekly.read(scope);
  const emailIds = await weekly.db.sql`
    select provider_email_id as id from resend_email_sends where user_id = ${scope.userId}`;
  await weekly.writeSends(
    [{ ...scope, emailId: randomUUID(), at: "2026-11-23T12:00:00Z" }],
    emailIds.map(({ id }) => ({
      tenantId: scope.tenantId,
      emailId: id,
      type: "email.clicked",
      at: "2026-11-23T20:00:00Z",
    })),
  );
  await setClock(weekly.db.sql, "2026-11-24T01:00:00Z");
  const evening = await weekly.read(scope);
  expect(evening.readAt).toBe("2026-11-24T01:00:00.000000Z");
  expect(evening.email).toEqual(morning.email);
});
