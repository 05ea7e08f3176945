/** WhatsApp messages with an unknown result, looked up at a gateway that keeps what a real run sent through it. */
import { describe, expect, test } from "bun:test";
import type postgres from "postgres";
import type { LookUp } from "../../../lib/deliveries/look-up/look-up.ts";
import type { Gateway } from "../../standins/gateway.ts";
import { MONDAY, type OwnerSpec, type SeededOwner } from "../../support/seed.ts";
import { type LookUpFixture, limitOf, lookUpFixture, SENT_AT } from "../support/look-up-fixture.ts";

const fixture = lookUpFixture();
const MINUTE_S = 60;
const dispatchedAtS = Date.parse(MONDAY) / 1000;
const phone = "+55 (11) 95111-2222";

type Kept = Gateway["kept"];

/** One message with an unknown result, and the row that the gateway keeps of it. */
async function oneUnknown(spec: OwnerSpec = {}) {
  const { weekly, leaveUnknown, lookUp } = fixture();
  const [one] = await leaveUnknown(["whatsapp"], [spec]);
  const { kept } = weekly.gateway;
  expect(kept).toHaveLength(1);
  return { id: one!.ids[0]!, owner: one!.owner, weekly, lookUp, kept, row: kept[0]! };
}

const FOUND = { status: "found", code: null, settled: true, state: "sent" } as const;
const NOT_FOUND = {
  status: "not_found",
  code: "message_not_found",
  settled: false,
  state: "unknown",
} as const;
const notUnique = (code: string) =>
  ({ status: "not_unique", code, settled: false, state: "unknown" }) as const;

/** What the gateway has, and what a look-up that settles makes of it. */
const KEPT: Record<string, { change: (kept: Kept) => unknown; result: Partial<LookUp> }> = {
  "the message": { change: () => {}, result: FOUND },
  "the message in two rows": {
    change: (kept) => kept.push({ ...kept[0]!, sentAt: kept[0]!.sentAt + 1 }),
    result: FOUND,
  },
  nothing: { change: (kept) => kept.splice(0), result: NOT_FOUND },
  "another text": {
    change: ([row]) => Object.assign(row!, { text: `${row!.text} ` }),
    result: { ...NOT_FOUND, code: "other_text_found" },
  },
  "a message to us": { change: ([row]) => Object.assign(row!, { fromMe: false }), result: NOT_FOUND },
  "a message to another number": {
    change: ([row]) => Object.assign(row!, { remoteJid: "5531999994321@s.whatsapp.net" }),
    result: NOT_FOUND,
  },
  "a message of another instance": {
    change: ([row]) => Object.assign(row!, { instance: "other" }),
    result: NOT_FOUND,
  },
  "two messages of the same text to the same number": {
    change: (kept) => kept.push({ ...kept[0]!, id: "3EB0AAAAAAAAAAAAAAAAAA", sentAt: kept[0]!.sentAt + 20 }),
    result: { ...notUnique("evidence_several"), providerMessageId: null },
  },
  "one that WhatsApp has refused": {
    change: ([row]) => Object.assign(row!, { statuses: ["PENDING", "ERROR"] }),
    result: {
      ...FOUND,
      code: "evidence_not_sent",
      providerStatus: "ERROR",
      settled: false,
      state: "unknown",
    },
  },
  "one that WhatsApp took after an error": {
    change: ([row]) => Object.assign(row!, { statuses: ["ERROR", "SERVER_ACK"] }),
    result: { ...FOUND, providerStatus: "SERVER_ACK" },
  },
  "an id that the ledger would refuse": {
    change: ([row]) => Object.assign(row!, { id: "5511987654321" }),
    result: { status: "could_not_be_asked", code: "gateway_answer_unreadable", settled: false },
  },
  "45 other messages beside it": {
    change: (kept) => kept.push(...others(kept, 45)),
    result: FOUND,
  },
  "a second one like it behind 45 others": {
    change: (kept) =>
      kept.push(...others(kept, 45), {
        ...kept[0]!,
        id: "3EB0AAAAAAAAAAAAAAAAAA",
        sentAt: kept[0]!.sentAt - 1,
      }),
    result: notUnique("evidence_several"),
  },
  "more messages than can be read": {
    change: (kept) => kept.push(...others(kept, 250)),
    result: { status: "could_not_be_asked", code: "gateway_messages_too_many", settled: false },
  },
  ...Object.fromEntries(
    (
      [
        [-10 * MINUTE_S - 1, NOT_FOUND],
        [-3, notUnique("evidence_outside_time")],
        [-2, FOUND],
        [0, FOUND],
        [10 * MINUTE_S, FOUND],
        [10 * MINUTE_S + 1, notUnique("evidence_outside_time")],
        [60 * MINUTE_S, notUnique("evidence_outside_time")],
        [60 * MINUTE_S + 1, NOT_FOUND],
      ] as const
    ).map(([seconds, result]) => [
      `a message sent ${seconds} seconds after the dispatch`,
      { change: ([row]: Kept) => Object.assign(row!, { sentAt: dispatchedAtS + seconds }), result },
    ]),
  ),
};

function others([row]: Kept, count: number): Kept {
  return Array.from({ length: count }, (_, i) => ({ ...row!, id: `3EB0${1000 + i}F`, text: "Oi" }));
}

describe("look-up of a message", () => {
  test.each(Object.entries(KEPT))(
    "the look-up at a gateway that has %s",
    async (_name, { change, result }) => {
      const { id, lookUp, kept, weekly } = await oneUnknown();
      change(kept);
      expect(await lookUp({ settleAs: "ana" })).toMatchObject([{ id, ...result }]);
      const [row] = await weekly.db.sql`select status from weekly_performance_deliveries where id = ${id}`;
      expect(row!.status).toBe(result.settled ? "sent" : "unknown");
      expect(weekly.gateway.routes.send.calls).toHaveLength(1);
    },
  );
});

test("a look-up says what it found and changes nothing; it asks only for this recipient and time", async () => {
  const { id, weekly, lookUp, row } = await oneUnknown();
  row.statuses = ["PENDING", "DELIVERY_ACK", "SERVER_ACK"];
  expect(await lookUp()).toEqual([
    {
      ...{ id, channel: "whatsapp", week: "2026-11-16", tenantId: expect.any(String) },
      ...{ status: "found", code: null, providerMessageId: row.id, remark: null },
      sentAt: `${SENT_AT.toISOString().slice(0, 19)}Z`,
      ...{ providerStatus: "DELIVERY_ACK", state: "unknown", settled: false },
    },
  ]);
  expect(weekly.gateway.unexpected).toEqual([]);
  const [asked] = weekly.gateway.routes.messages.calls;
  const { where } = asked!.body as { where: { key: object; messageTimestamp: object } };
  expect(where.key).toEqual({ remoteJid: row.remoteJid, fromMe: true });
  expect(Object.keys(where.messageTimestamp)).toEqual(["gte", "lte"]);
});

test("the gateway shows whole seconds: what it shows two seconds before the second of the dispatch is in time", async () => {
  const { weekly, lookUp, row } = await oneUnknown();
  await weekly.db.sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await tx`update weekly_performance_deliveries set dispatched_at = dispatched_at + interval '750 milliseconds'`;
  });
  row.sentAt = dispatchedAtS - 2;
  expect(await lookUp()).toMatchObject([{ status: "found" }]);
});

/** What keeps a question from being asked. */
const NOT_ASKED: Record<
  string,
  { change: (sql: postgres.Sql, fixture: LookUpFixture, owner: SeededOwner) => unknown; code: string | null }
> = {
  "the owner has another number": {
    change: (sql, _, { userId }) => sql`update users set phone = '+55 11 95000-9999' where id = ${userId}`,
    code: "recipient_changed",
  },
  "the owner has no number": {
    change: (sql, _, { userId }) => sql`update users set phone = null where id = ${userId}`,
    code: "recipient_changed",
  },
  "there is no instance any more": {
    change: (sql) => sql`delete from messaging_instances`,
    code: "sem_instancia_gateway",
  },
  "the report cannot be read": {
    change: (sql) => rewritePayload(sql, '{"schemaVersion": 99}'),
    code: "report_payload_unreadable",
  },
  "the report's content was removed": { change: (sql) => rewritePayload(sql, null), code: "report_pruned" },
};

const rewritePayload = (sql: postgres.Sql, payload: string | null) =>
  sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await tx`alter table weekly_performance_reports drop constraint if exists weekly_performance_reports_completed`;
    await tx`update weekly_performance_reports set payload = ${payload}::text::jsonb`;
  });

describe("a message that cannot be looked up", () => {
  test.each(Object.entries(NOT_ASKED))(
    "a message is not looked up when %s",
    async (_name, { change, code }) => {
      const { owner, weekly, lookUp } = await oneUnknown();
      await change(weekly.db.sql, fixture(), owner);
      expect(await lookUp({ settleAs: "ana" })).toMatchObject([
        { status: "could_not_be_asked", code, settled: false },
      ]);
      expect(weekly.gateway.routes.messages.calls).toEqual([]);
    },
  );
});

test("the instance that was the newest at the dispatch is asked", async () => {
  const { weekly, lookUp } = await oneUnknown();
  const { sql } = weekly.db;
  const { whatsappTenantId: tenant } = weekly.senders;
  weekly.gateway.instances.set("later", "open");
  await sql`update messaging_instances set created_at = ${MONDAY}::timestamptz - interval '1 day'`;
  await sql`
    insert into messaging_instances (tenant_id, instance_name, created_at)
    values (${tenant}, 'later', ${MONDAY}::timestamptz + interval '1 second'),
           (${tenant}, 'old', ${MONDAY}::timestamptz - interval '2 days')`;
  expect(await lookUp()).toMatchObject([{ status: "found" }]);
});

/** What has become of the other of two deliveries to one number with one text, of which the gateway keeps one message. */
const BESIDE: Record<
  string,
  { change: (tx: postgres.TransactionSql, other: string) => PromiseLike<unknown>; result: Partial<LookUp> }
> = {
  "is unknown as well": { change: async () => {}, result: notUnique("evidence_shared") },
  "is being sent": {
    change: (tx, other) => tx`
      update weekly_performance_deliveries set status = 'running', error_code = null, settled_at = null,
        lease_expires_at = public.weekly_performance_now() + interval '4 minutes' where id = ${other}`,
    result: notUnique("evidence_shared"),
  },
  "has a text that is not known any more": {
    change: (tx, other) => tx`
      update weekly_performance_reports set payload = null, evidence = null, pruned_at = now()
      where id = (select report_id from weekly_performance_deliveries where id = ${other})`,
    result: notUnique("evidence_shared"),
  },
  "went to a number that was changed since": {
    change: (tx, other) => tx`update users set phone = '+55 11 95000-0000'
      where id = (select user_id from weekly_performance_deliveries where id = ${other})`,
    result: notUnique("evidence_shared"),
  },
  "went to a number whose area code was corrected since": {
    change: (tx, other) => tx`update users set phone = '+55 21 95111-2222'
      where id = (select user_id from weekly_performance_deliveries where id = ${other})`,
    result: notUnique("evidence_shared"),
  },
  "is claimed and not sent yet": {
    change: (tx, other) => tx`
      update weekly_performance_deliveries set status = 'running', error_code = null, settled_at = null,
        dispatched_at = null, lease_expires_at = public.weekly_performance_now() + interval '4 minutes'
      where id = ${other}`,
    result: FOUND,
  },
  "is known not to have been sent": {
    change: (tx, other) => tx`
      update weekly_performance_deliveries set status = 'failed', error_code = 'reconciled_not_sent' where id = ${other}`,
    result: FOUND,
  },
};

const giveTo = (sql: postgres.Sql, delivery: string, message: string) => sql`
  select public.reconcile_weekly_performance_delivery(
    ${delivery}::uuid, 'sent', ${message}, 'seen on the phone', 'rui')`;

describe("two deliveries to one number with one text", () => {
  const twins = async () => {
    const { leaveUnknown, lookUp, weekly } = fixture();
    const [one, other] = await leaveUnknown(["whatsapp"], [{ phone }, { phone }]);
    return { one: one!, other: other!, lookUp, weekly, kept: weekly.gateway.kept, sql: weekly.db.sql };
  };

  test.each(Object.entries(BESIDE))(
    "the look-up of one when the other %s",
    async (_name, { change, result }) => {
      const { one, other, lookUp, weekly, kept } = await twins();
      kept.pop();
      await weekly.db.sql.begin(async (tx) => {
        await tx`set local session_replication_role = replica`;
        await change(tx, other.ids[0]!);
      });
      expect(await lookUp({ ids: one.ids, settleAs: "ana" })).toMatchObject([result]);
    },
  );

  test("the look-up of one takes the message that the other does not have, and never the one that it has", async () => {
    const { one, other, lookUp, kept, sql } = await twins();
    const [first, second] = kept;
    await giveTo(sql, one.ids[0]!, first!.id);
    expect(await lookUp()).toMatchObject([
      { id: other.ids[0]!, status: "found", providerMessageId: second!.id },
    ]);
    kept.pop();
    expect(await lookUp({ settleAs: "ana" })).toMatchObject([notUnique("evidence_of_another_delivery")]);
  });

  test("the message of the other stays taken when its owner was deleted", async () => {
    const { one, lookUp, kept, sql } = await twins();
    kept.pop();
    await giveTo(sql, one.ids[0]!, kept[0]!.id);
    for (const table of ["timeline_entries", "resend_email_sends", "social_account_scores"])
      await sql`delete from ${sql(table)} where user_id = ${one.owner.userId}`;
    await sql`delete from users where id = ${one.owner.userId}`;
    expect(await lookUp({ settleAs: "ana" })).toMatchObject([notUnique("evidence_of_another_delivery")]);
  });

  test("the one does not take a message that another operator gives to the other meanwhile", async () => {
    const { one, other, lookUp, weekly, kept, sql } = await twins();
    kept.pop();
    let given: Promise<unknown> | undefined;
    weekly.gateway.latencyMs = 50;
    weekly.gateway.routes.messages.script = () => {
      given ??= giveTo(sql, one.ids[0]!, kept[0]!.id).execute();
      return undefined;
    };
    const [seen] = await lookUp({ ids: other.ids, settleAs: "ana" });
    await given;
    expect(seen).toMatchObject({ status: "not_unique", settled: false, state: "unknown" });
    const [row] = await sql`
      select count(*)::int as sent from weekly_performance_deliveries where status = 'sent' and channel = 'whatsapp'`;
    expect(row!.sent).toBe(1);
  });

  test("both are settled where their texts differ", async () => {
    const { leaveUnknown, lookUp, weekly } = fixture();
    await leaveUnknown(["whatsapp"], [{ phone }, { phone, sends: [] }]);
    expect(new Set(weekly.gateway.kept.map(({ text }) => text)).size).toBe(2);
    expect(await lookUp({ settleAs: "ana" })).toMatchObject([{ settled: true }, { settled: true }]);
  });
});

describe("a gateway that does not answer the question", () => {
  test.each([
    ["401", { status: 401, json: { response: { message: "Unauthorized" } } }, "gateway_unauthorized"],
    ["502", { status: 502, text: "bad gateway" }, "gateway_http_502"],
    ["no answer in time", "hang", "gateway_timeout"],
    ["half an answer", "break_body", "gateway_connection_lost"],
  ] as const)("%s: could not be asked", async (_name, scripted, code) => {
    const { lookUp, weekly } = await oneUnknown();
    weekly.gateway.routes.messages.script = () => scripted;
    expect(await lookUp({ settleAs: "ana", ...limitOf(scripted) })).toMatchObject([
      { status: "could_not_be_asked", code, settled: false, state: "unknown" },
    ]);
  });

  test("has no settings: could not be asked", async () => {
    const { lookUp } = await oneUnknown();
    expect(await lookUp({ dependencies: { whatsapp: null } })).toMatchObject([
      { status: "could_not_be_asked", code: "gateway_not_configured" },
    ]);
  });

  test("is asked no more after a refusal, nor after three failures in a row", async () => {
    const { leaveUnknown, lookUp, weekly } = fixture();
    await leaveUnknown(
      ["whatsapp"],
      Array.from({ length: 6 }, () => ({})),
    );
    const { messages } = weekly.gateway.routes;
    messages.script = () => ({ status: 401, json: { response: { message: "Unauthorized" } } });
    expect((await lookUp()).map(({ code }) => code)).toEqual(Array(6).fill("gateway_unauthorized"));
    expect(messages.calls).toHaveLength(1);
    messages.calls.length = 0;
    messages.script = () => "drop";
    expect((await lookUp()).map(({ code }) => code)).toEqual(Array(6).fill("gateway_connection_lost"));
    expect(messages.calls).toHaveLength(3);
    messages.script = null;
    messages.next("drop", "drop");
    expect((await lookUp()).map(({ status }) => status)).toEqual([
      ...Array(2).fill("could_not_be_asked"),
      ...Array(4).fill("found"),
    ]);
  });

  test("is asked on after failures that an answer interrupts", async () => {
    const { leaveUnknown, lookUp, weekly } = fixture();
    await leaveUnknown(
      ["whatsapp"],
      Array.from({ length: 6 }, () => ({})),
    );
    const recipients: string[] = [];
    weekly.gateway.routes.messages.scriptByBody = ({ body }) => {
      const { remoteJid } = (body as { where: { key: { remoteJid: string } } }).where.key;
      const end = remoteJid.split("@")[0]!.slice(-8);
      if (!recipients.includes(end)) recipients.push(end);
      return recipients.indexOf(end) % 3 === 2 ? undefined : "drop";
    };
    const [failed, found] = ["could_not_be_asked", "found"] as const;
    const expected: LookUp["status"][] = [failed, failed, found, failed, failed, found];
    expect((await lookUp()).map(({ status }) => status)).toEqual(expected);
  });

  test("a gateway that is not connected to its phone still has the message", async () => {
    const { lookUp, weekly } = await oneUnknown();
    weekly.gateway.instances.set("ops", "close");
    expect(await lookUp()).toMatchObject([{ status: "found" }]);
  });
});
