/** The e-mail channel of a stored report: which sends and events count, what they have reached, and what is said of it. */
import { beforeAll, describe, expect, test } from "bun:test";
import { type SeededOwner, type Sends, seedOwner, WEEK, writeSends } from "../../support/seed.ts";
import { type Reported, type ReportedOwner, reportsOf } from "../support/reported-owners.ts";

type Rate = number | null;
// biome-ignore lint/suspicious/noExplicitAny: what a matcher is given
type Expected = Record<string, any>;

const of = (count: number, ...events: string[]): Sends => ({ count, events });
/** The figures of a channel by name; those that are not given are zero. */
const whole = (sends: number, figures: Expected): Expected => ({
  ...{ sends, noEvent: 0, delivered: 0, opened: 0, clicked: 0, bounced: 0, complained: 0 },
  ...{ failed: 0, delayed: 0, suppressed: 0 },
  ...figures,
});

const rates = (deliveryRate: Rate, openRate: Rate, clickRate: Rate, bounceRate: Rate) => ({
  ...{ deliveryRate, openRate, clickRate, bounceRate },
});

const EDGES = [
  "2026-11-16T02:59:59.999999Z",
  "2026-11-16T03:00:00Z",
  "2026-11-23T02:59:59.999999Z",
  "2026-11-23T03:00:00Z",
];
const IDS = ["1c9d2e3f-0000-4000-8000-000000000001", "f09d2e3f-0000-4000-8000-000000000002"] as const;
const OTHERS = ["email.sent", "email.scheduled", "EMAIL.OPENED", "email.opened ", "", "opened"];
const LATE = OTHERS.map((type) => ({ type, at: "2026-11-19T12:00:00Z" }));

/** Sends of others that must not count: of a colleague, of a stranger, and events under another tenant. */
async function sendsOfOthers(sql: Parameters<typeof writeSends>[0], owner: SeededOwner): Promise<void> {
  const colleague = await seedOwner(sql, {
    tenantId: owner.tenantId,
    role: "member",
    sends: [["email.bounced"]],
  });
  const stranger = await seedOwner(sql, { role: "member", sends: [["email.bounced"]] });
  expect(colleague.tenantId).not.toBe(stranger.tenantId);
  await writeSends(sql, owner, [{ events: [{ type: "email.complained", tenantId: stranger.tenantId }] }]);
  // The same user id under another tenant, as a mirror could have it.
  await writeSends(sql, { ...owner, tenantId: stranger.tenantId }, [of(1, "failed")]);
}

/** The figures of the channel, by what was sent and what happened. */
const FIGURES: Record<string, ReportedOwner & { metrics: Expected }> = {
  "takes a send from the first microsecond of the week to the last": {
    sends: EDGES.map((at) => ({ at })),
    metrics: { sends: 2 },
  },
  "takes an event from the first microsecond of the week to the last": {
    sends: EDGES.map((at) => ({ at: WEEK.start, events: [{ type: "email.delivered", at }] })),
    metrics: { sends: 4, delivered: 2, noEvent: 2 },
  },
  "counts no open of a send of the week before": {
    sends: [{ at: "2026-11-15T12:00:00Z", events: ["opened"] }, of(1, "delivered")],
    metrics: { sends: 1, delivered: 1, opened: 0, openRate: 0 },
  },
  "has the state that was known when the week ended": {
    sends: [{ events: ["opened", { type: "email.clicked", at: "2026-11-23T09:00:00Z" }] }],
    metrics: { opened: 1, clicked: 0, openRate: 1, clickRate: 0 },
  },
  "counts no send of another user or tenant and no event of another tenant": {
    sends: [of(1, "delivered")],
    also: sendsOfOthers,
    metrics: whole(2, { delivered: 1, noEvent: 1 }),
  },
  "has the latest event as the last state, in whatever order they were written": {
    sends: [
      {
        events: [
          { type: "email.clicked", at: "2026-11-18T12:03:00.000002Z" },
          { type: "email.delivered", at: "2026-11-18T12:01:00Z" },
          { type: "email.opened", at: "2026-11-18T12:03:00.000001Z" },
        ],
      },
    ],
    metrics: { clicked: 1, opened: 0, delivered: 0 },
  },
  "has the event with the larger id as the last of two at one instant": {
    sends: [
      {
        events: [
          { type: "email.complained", at: "2026-11-18T12:05:00Z", id: IDS[1] },
          { type: "email.opened", at: "2026-11-18T12:05:00Z", id: IDS[0] },
        ],
      },
    ],
    metrics: { complained: 1, opened: 0 },
  },
  "knows no state but its eight": {
    sends: [{ events: ["opened", ...LATE] }, { events: LATE }],
    metrics: { sends: 2, opened: 1, noEvent: 1, openRate: 1 },
  },
  "has zeros as zeros": {
    sends: [of(10, "delivered")],
    metrics: { ...whole(10, { delivered: 10 }), ...rates(1, 0, 0, 0) },
  },
  "counts of a later event outside of the week nothing as reached": {
    sends: [
      {
        events: [
          "delivered",
          { type: "email.clicked", at: "2026-11-23T03:00:00Z" },
          { type: "email.opened", at: "2026-11-16T02:59:59.999999Z" },
        ],
      },
    ],
    metrics: { reached: { delivered: 1, opened: 0, clicked: 0 } },
  },
  "rounds rates half up to four decimals": {
    sends: [of(19_999, "delivered"), of(1, "bounced")],
    metrics: { sends: 20_000, ...rates(1, 0, 0, 0.0001) },
  },
  "rounds the exact quotient, and not one that was rounded before": {
    sends: [of(743, "delivered"), of(57, "bounced")],
    metrics: { sends: 800, ...rates(0.9288, 0, 0, 0.0713) },
  },
  "leaves sends without an event out of the rates": {
    sends: [of(2, "opened"), of(1, "bounced"), of(1)],
    metrics: { sends: 4, noEvent: 1, opened: 2, bounced: 1, ...rates(0.6667, 0.6667, 0, 0.3333) },
  },
  "has rates where as many sends are known as not": {
    sends: [of(2, "opened"), of(2)],
    metrics: { sends: 4, noEvent: 2, opened: 2, ...rates(1, 1, 0, 0) },
  },
  "has no rates where fewer are known than not": {
    sends: [of(2, "opened"), of(3)],
    metrics: { sends: 5, noEvent: 3, opened: 2, ...rates(null, null, null, null) },
  },
};

/** What happened to one e-mail in this order, its last state, and whether it was delivered, opened, clicked. */
const REACHED: [string[], string, [number, number, number]][] = [
  [["delivered"], "delivered", [1, 0, 0]],
  [["opened"], "opened", [1, 1, 0]],
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
];

const HIGH = "vale revisar os endereços da lista";
const LEFT_OUT = "sem essa informação";

/** What the report says of e-mails, most important first; a row may give only the first sentences. */
const FINDINGS: [Sends[], ...string[]][] = [
  [
    [of(395, "delivered"), of(312, "opened"), of(110, "clicked"), of(182, "bounced"), of(1, "complained")],
    `182 dos seus 1.000 e-mails voltaram (18,2%); ${HIGH}`,
    "1 e-mail seu foi marcado como spam",
    "42,2% dos seus 1.000 e-mails foram abertos",
    "11,0% dos seus 1.000 e-mails receberam ao menos um clique",
    "81,8% dos seus 1.000 e-mails foram entregues",
  ],
  [
    [of(43, "delivered"), of(1, "opened"), of(4, "bounced"), of(2, "complained")],
    `4 dos seus 50 e-mails voltaram (8,0%); ${HIGH}`,
    "2 e-mails seus foram marcados como spam",
  ],
  [[of(19, "delivered"), of(1, "bounced")], `1 dos seus 20 e-mails voltou (5,0%); ${HIGH}`],
  [[of(1, "bounced")], `Seu e-mail voltou; ${HIGH}`],
  [[of(2, "delivered"), of(1, "bounced")], `1 dos seus 3 e-mails voltou; ${HIGH}`],
  [[of(30, "bounced")], `Todos os seus 30 e-mails voltaram (100,0%); ${HIGH}`],
  // One complaint in a thousand is the line, of the sends that are known.
  [
    [of(1_000, "opened"), of(1, "complained")],
    "99,9% dos seus 1.001 e-mails foram abertos",
    "Todos os seus 1.001 e-mails foram entregues",
    "1 e-mail seu foi marcado como spam",
  ],
  [
    [of(999, "opened"), of(1, "complained"), of(1)],
    "1 e-mail seu foi marcado como spam",
    `99,9% dos seus 1.000 e-mails com informação de entrega foram abertos (1 ${LEFT_OUT} fica fora da conta)`,
  ],
  [[of(1)], "Você enviou 1 e-mail; ainda não há informação de entrega"],
  [[of(12)], "Você enviou 12 e-mails; ainda não há informação de entrega"],
  [
    [of(3, "delivered"), of(1, "complained"), of(8)],
    "Só 4 dos seus 12 e-mails têm informação de entrega: é pouco para calcular taxas",
    "1 e-mail seu foi marcado como spam",
  ],
  [
    [of(1, "delivered"), of(2)],
    "Só 1 dos seus 3 e-mails tem informação de entrega: é pouco para calcular taxas",
  ],
  [[of(1_250, "delivered")], "Nenhuma abertura registrada nos seus 1.250 e-mails"],
  [[of(1_250, "opened")], "Todos os seus 1.250 e-mails foram abertos"],
  [[of(1, "opened")], "Seu e-mail foi aberto"],
  [[of(1, "delivered")], "Nenhuma abertura registrada no seu e-mail"],
  // Of a handful a percentage would say more than there is.
  [[of(10, "opened"), of(9, "delivered")], "10 dos seus 19 e-mails foram abertos"],
  [[of(10, "opened"), of(10, "delivered")], "50,0% dos seus 20 e-mails foram abertos"],
  [[of(1, "opened"), of(1, "delivered")], "1 dos seus 2 e-mails foi aberto"],
  [[of(2, "opened")], "Os seus 2 e-mails foram abertos"],
  [[of(3, "opened")], "Todos os seus 3 e-mails foram abertos"],
  [
    [of(1, "opened"), of(1)],
    `Seu único e-mail com informação de entrega foi aberto (1 ${LEFT_OUT} fica fora da conta)`,
  ],
  // One of thousands is neither none nor all, however rates are rounded.
  [[of(3_000, "delivered"), of(1, "opened")], "Menos de 0,1% dos seus 3.001 e-mails foram abertos"],
  [[of(1, "delivered"), of(3_000, "opened")], "Mais de 99,9% dos seus 3.001 e-mails foram abertos"],
  [
    [of(2, "opened"), of(1, "bounced"), of(1)],
    `1 dos seus 3 e-mails com informação de entrega voltou; ${HIGH} (1 ${LEFT_OUT} fica fora da conta)`,
    "2 dos seus 3 e-mails com informação de entrega foram abertos",
    "2 dos seus 3 e-mails com informação de entrega foram entregues",
  ],
];

const COUNTED = { rowId: null, rangeStart: WEEK.start, rangeEnd: WEEK.end, items: [] };

/** What the channel says of itself, and what its figures were counted from. */
const COVERAGE: Record<string, ReportedOwner & { channel: Expected; step: string }> = {
  "is unavailable without a send, and not zero": {
    sends: [{ at: "2026-11-15T12:00:00Z", events: ["opened"] }],
    channel: {
      status: "unavailable",
      coverageStatus: "unavailable",
      reason: "no_sends_in_window",
      metrics: null,
      insights: [],
      evidence: [],
    },
    step: "send_email",
  },
  "is unavailable also where a colleague has sent": {
    also: (sql, { tenantId }) => seedOwner(sql, { tenantId, role: "member", sends: [["email.opened"]] }),
    channel: { status: "unavailable", reason: "no_sends_in_window", metrics: null },
    step: "send_email",
  },
  "is partial without an event, and knows only the number of sends": {
    sends: [of(1), { events: [{ type: "email.sent" }] }],
    channel: {
      ...{ status: "available", coverageStatus: "partial", reason: "no_events_in_window" },
      metrics: {
        ...Object.fromEntries(
          Object.keys({ ...whole(2, {}), ...rates(0, 0, 0, 0) }).map((key) => [key, null]),
        ),
        ...{ sends: 2, reached: { delivered: null, opened: null, clicked: null } },
      },
    },
    step: "check_email_events",
  },
  "is partial when one send has no event, and names the rows it has counted": {
    sends: [of(3, "opened"), of(1)],
    channel: {
      ...{ status: "available", coverageStatus: "partial", reason: "events_incomplete" },
      evidence: [
        { sourceTable: "resend_email_sends", ...COUNTED, count: 4 },
        { sourceTable: "resend_email_events", ...COUNTED, count: 3 },
      ],
    },
    step: "open_report",
  },
  "is complete when all have one": {
    sends: [of(2, "opened")],
    channel: { status: "available", coverageStatus: "complete", reason: null },
    step: "open_report",
  },
};

const connected = { networks: ["instagram", "linkedin"] };
let reports: Record<string, Reported>;
beforeAll(async () => {
  reports = await reportsOf({
    ...FIGURES,
    ...Object.fromEntries(Object.entries(COVERAGE).map(([name, spec]) => [name, { ...spec, ...connected }])),
    ...Object.fromEntries(REACHED.map(([events]) => [events.join(), { sends: [{ events }] }])),
    ...Object.fromEntries(FINDINGS.map(([sends], i) => [`finding ${i}`, { sends }])),
  });
});
const emailOf = (name: string) => reports[name]!.payload.channels.email;

describe("the e-mail channel of a report", () => {
  test.each(Object.entries(FIGURES))("%s", (name, { metrics }) => {
    expect(emailOf(name).metrics).toMatchObject(metrics);
  });

  test.each(REACHED)(
    "keeps what an e-mail has reached, whatever came last: %j",
    (events, last, [delivered, opened, clicked]) => {
      expect(emailOf(events.join()).metrics).toEqual({
        ...whole(1, { [last]: 1 }),
        ...rates(delivered, opened, clicked, last === "bounced" ? 1 : 0),
        reached: { delivered, opened, clicked },
      });
    },
  );

  test.each(FINDINGS.map(([, ...texts], i) => [i, texts] as const))("finding %i: %j", (i, texts) => {
    const found = emailOf(`finding ${i}`).insights;
    expect(found.map(({ text }) => text).slice(0, texts.length)).toEqual(texts);
    for (const { metric, value } of found) expect(emailOf(`finding ${i}`).metrics![metric!]).toBe(value!);
  });

  test("says nothing of deliveries, clicks and spam where there were none", () => {
    const at = FINDINGS.findIndex(([sends]) => sends[0]?.count === 30);
    const codes = emailOf(`finding ${at}`).insights.map(({ code }) => code);
    expect(codes).toEqual(["email_bounces_high", "email_opens"]);
  });

  test.each(Object.entries(COVERAGE))("%s", (name, { channel, step }) => {
    expect(emailOf(name)).toMatchObject(channel);
    expect(reports[name]!.payload.activationActions.map(({ code }) => code)).toEqual([step]);
  });
});
