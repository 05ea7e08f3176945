/** WhatsApp messages in doubt, looked up at a gateway that keeps what a real run sent through it. */
import { describe, expect, test } from "bun:test";
import type postgres from "postgres";
import { openDatabase } from "../../../lib/platform/database/pool.ts";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import type { Scripted } from "../../standins/standin.ts";
import { MONDAY } from "../../support/seed.ts";
import { limitOf, lookUpFixture, SENT_AT } from "../support/look-up-fixture.ts";

const fixture = lookUpFixture();
const MINUTE_S = 60;
const dispatchedAtS = Date.parse(MONDAY) / 1000;

/** One message in doubt, and the row that the gateway keeps of it. */
async function oneDoubt(spec = {}) {
  const { weekly, doubt, lookUp } = fixture();
  const [one] = await doubt(["whatsapp"], [spec]);
  const [id] = one!.ids;
  const { kept } = weekly.gateway;
  expect(kept).toHaveLength(1);
  return { id: id!, owner: one!.owner, weekly, lookUp, kept, row: kept[0]! };
}

/** The database of an operator, which does `then` once, after the first statement that matches `pattern`. */
function afterFirst(sql: postgres.Sql, pattern: RegExp, then: () => PromiseLike<unknown>): postgres.Sql {
  let isDone = false;
  return new Proxy(sql, {
    apply(target, _self, [strings, ...values]: [TemplateStringsArray, ...never[]]) {
      const query = target(strings, ...values);
      if (isDone || !pattern.test(strings.join("?"))) return query;
      isDone = true;
      return query.then(async (rows) => {
        await then();
        return rows;
      });
    },
  });
}

describe("look-up of a WhatsApp message", () => {
  test("finds the one message with the very text to this recipient, and changes nothing", async () => {
    const { id, weekly, lookUp, row } = await oneDoubt();
    row.statuses = ["PENDING", "DELIVERY_ACK", "SERVER_ACK"];
    expect(await lookUp()).toMatchObject([
      {
        id,
        channel: "whatsapp",
        week: "2026-11-16",
        status: "found",
        code: null,
        providerMessageId: row.id,
        sentAt: `${SENT_AT.toISOString().slice(0, 19)}Z`,
        providerStatus: "DELIVERY_ACK",
        state: "unknown",
        settled: false,
      },
    ]);
    expect(weekly.gateway.routes.send.calls).toHaveLength(1);
    expect(weekly.gateway.unexpected).toEqual([]);
    const [asked] = weekly.gateway.routes.messages.calls;
    const { where } = asked!.body as { where: { key: object; messageTimestamp: object } };
    expect(where.key).toEqual({ remoteJid: row.remoteJid, fromMe: true });
    expect(Object.keys(where.messageTimestamp)).toEqual(["gte", "lte"]);
  });

  test("finds it under the other form of a Brazilian number, and under the bare number", async () => {
    const { lookUp, row } = await oneDoubt({ phone: "+55 (31) 98765-4321" });
    for (const remoteJid of ["553187654321@s.whatsapp.net", "5531987654321"]) {
      row.remoteJid = remoteJid;
      expect(await lookUp()).toMatchObject([{ status: "found" }]);
    }
    row.remoteJid = "5531999994321@s.whatsapp.net";
    expect(await lookUp()).toMatchObject([{ status: "not_found", code: "message_not_found" }]);
  });

  test("takes two rows of one message for one", async () => {
    const { lookUp, kept, row } = await oneDoubt();
    kept.push({ ...row, sentAt: row.sentAt + 1 });
    expect(await lookUp()).toMatchObject([{ status: "found", providerMessageId: row.id }]);
  });

  test.each([
    [-3, "evidence_outside_time"],
    [-2, null],
    [0, null],
    [10 * MINUTE_S, null],
    [10 * MINUTE_S + 1, "evidence_outside_time"],
    [60 * MINUTE_S, "evidence_outside_time"],
  ])("judges a message that was sent %d seconds after the dispatch: %p", async (seconds, code) => {
    const { lookUp, row } = await oneDoubt();
    row.sentAt = dispatchedAtS + seconds;
    expect(await lookUp()).toMatchObject([{ status: code === null ? "found" : "not_unique", code }]);
  });

  test.each([-10 * MINUTE_S - 1, 60 * MINUTE_S + 1])(
    "asks for nothing that was sent %d seconds after the dispatch",
    async (seconds) => {
      const { lookUp, row } = await oneDoubt();
      row.sentAt = dispatchedAtS + seconds;
      expect(await lookUp()).toMatchObject([{ status: "not_found", code: "message_not_found" }]);
    },
  );

  test("does not take another text, a message to us or another instance's for it", async () => {
    const { lookUp, row } = await oneDoubt();
    const { text } = row;
    row.text = `${text} `;
    expect(await lookUp()).toMatchObject([{ status: "not_found", code: "other_text_found" }]);
    Object.assign(row, { text, fromMe: false });
    expect(await lookUp()).toMatchObject([{ status: "not_found", code: "message_not_found" }]);
    Object.assign(row, { fromMe: true, instance: "other" });
    expect(await lookUp()).toMatchObject([{ status: "not_found", code: "message_not_found" }]);
  });

  test("finds nothing where the gateway keeps nothing, and settles nothing then", async () => {
    const { id, weekly, lookUp, kept } = await oneDoubt();
    kept.length = 0;
    expect(await lookUp({ settleAs: "ana" })).toMatchObject([{ status: "not_found", settled: false }]);
    const [row] = await weekly.db.sql`select status from weekly_performance_deliveries where id = ${id}`;
    expect(row!.status).toBe("unknown");
  });

  test("settles nothing that WhatsApp has refused, and says so", async () => {
    const { lookUp, row } = await oneDoubt();
    row.statuses = ["PENDING", "ERROR"];
    const refused = await lookUp({ settleAs: "ana" });
    expect(refused).toMatchObject([
      {
        status: "found",
        code: "evidence_not_sent",
        providerStatus: "ERROR",
        settled: false,
        state: "unknown",
      },
    ]);
    row.statuses = ["ERROR", "SERVER_ACK"];
    expect(await lookUp({ settleAs: "ana" })).toMatchObject([{ code: null, settled: true, state: "sent" }]);
  });

  test("settles nothing when there are two like it", async () => {
    const { lookUp, kept, row } = await oneDoubt();
    kept.push({ ...row, id: "3EB0AAAAAAAAAAAAAAAAAA", sentAt: row.sentAt + 20 });
    expect(await lookUp({ settleAs: "ana" })).toMatchObject([
      { status: "not_unique", code: "evidence_several", providerMessageId: null, settled: false },
    ]);
  });

  test("reads further pages, so that a second one like it is not overlooked", async () => {
    const { lookUp, kept, row } = await oneDoubt();
    for (let i = 0; i < 45; i += 1) kept.push({ ...row, id: `3EB0${1000 + i}F`, text: "Oi" });
    expect(await lookUp()).toMatchObject([{ status: "found" }]);
    kept.push({ ...row, id: "3EB0AAAAAAAAAAAAAAAAAA", sentAt: row.sentAt - 1 });
    expect(await lookUp()).toMatchObject([{ status: "not_unique", code: "evidence_several" }]);
    for (let i = 0; i < 200; i += 1) kept.push({ ...row, id: `3EB0${2000 + i}F`, text: "Oi" });
    expect(await lookUp()).toMatchObject([
      { status: "could_not_be_asked", code: "gateway_messages_too_many" },
    ]);
  });

  test("does not ask about a number that is another one by now", async () => {
    const { owner, weekly, lookUp } = await oneDoubt();
    for (const phone of ["+55 11 95000-9999", null, "call me"]) {
      await weekly.db.sql`update users set phone = ${phone} where id = ${owner.userId}`;
      expect(await lookUp({ settleAs: "ana" })).toMatchObject([
        { status: "could_not_be_asked", code: "recipient_changed", settled: false },
      ]);
    }
    expect(weekly.gateway.routes.messages.calls).toEqual([]);
  });

  test("asks the instance that was the newest at the dispatch", async () => {
    const { weekly, lookUp } = await oneDoubt();
    const { sql } = weekly.db;
    const { whatsappTenantId: tenant } = weekly.senders;
    weekly.gateway.instances.set("later", "open");
    await sql`update messaging_instances set created_at = ${MONDAY}::timestamptz - interval '1 day'`;
    await sql`
      insert into messaging_instances (tenant_id, instance_name, created_at)
      values (${tenant}, 'later', ${MONDAY}::timestamptz + interval '1 second'),
             (${tenant}, 'old', ${MONDAY}::timestamptz - interval '2 days')`;
    expect(await lookUp()).toMatchObject([{ status: "found" }]);
    await sql`delete from messaging_instances`;
    expect(await lookUp()).toMatchObject([{ status: "could_not_be_asked", code: "sem_instancia_gateway" }]);
  });

  test("has no text of a report that cannot be read, and says so", async () => {
    const { weekly, lookUp } = await oneDoubt();
    const rewrite = (payload: string | null) =>
      weekly.db.sql.begin(async (tx) => {
        await tx`set local session_replication_role = replica`;
        await tx`alter table weekly_performance_reports drop constraint if exists weekly_performance_reports_completed`;
        await tx`update weekly_performance_reports set payload = ${payload}::text::jsonb`;
      });
    await rewrite('{"schemaVersion": 99}');
    expect(await lookUp()).toMatchObject([
      { status: "could_not_be_asked", code: "report_payload_unreadable" },
    ]);
    await rewrite(null);
    expect(await lookUp()).toMatchObject([{ status: "could_not_be_asked", code: "report_pruned" }]);
  });
});

describe("look-up of two deliveries to one number", () => {
  const phone = "+55 (11) 95111-2222";

  test("settles neither while both are open: the message may be either's", async () => {
    const { doubt, lookUp, weekly } = fixture();
    await doubt(["whatsapp"], [{ phone }, { phone }]);
    expect(weekly.gateway.kept.map(({ text }) => text)[0]).toBe(weekly.gateway.kept[1]!.text);
    weekly.gateway.kept.pop();
    expect(await lookUp({ settleAs: "ana" })).toMatchObject([
      { status: "not_unique", code: "evidence_shared", settled: false },
      { status: "not_unique", code: "evidence_shared", settled: false },
    ]);
  });

  test("knows one number in both of its forms", async () => {
    const { doubt, lookUp, weekly } = fixture();
    await doubt(["whatsapp"], [{ phone: "+55 (11) 98511-2222" }, { phone: "+55 (11) 8511-2222" }]);
    const codes = async () => (await lookUp({ settleAs: "ana" })).map(({ code }) => code);
    expect(await codes()).toEqual(["evidence_several", "evidence_several"]);
    weekly.gateway.kept.pop();
    expect(await codes()).toEqual(["evidence_shared", "evidence_shared"]);
  });

  test("takes the message that the other delivery does not hold, and never the one that it holds", async () => {
    const { doubt, lookUp, weekly } = fixture();
    const [one, other] = await doubt(["whatsapp"], [{ phone }, { phone }]);
    const [first, second] = weekly.gateway.kept;
    await weekly.db.sql`
      select public.reconcile_weekly_performance_delivery(
        ${one!.ids[0]!}::uuid, 'sent', ${first!.id}, 'seen on the phone', 'ana')`;
    expect(await lookUp()).toMatchObject([
      { id: other!.ids[0]!, status: "found", providerMessageId: second!.id },
    ]);
    weekly.gateway.kept.pop();
    expect(await lookUp({ settleAs: "ana" })).toMatchObject([
      { status: "not_unique", code: "evidence_of_another_delivery", settled: false },
    ]);
  });

  test("never takes the one that the other delivery held until its owner was deleted", async () => {
    const { doubt, lookUp, weekly } = fixture();
    const [one] = await doubt(["whatsapp"], [{ phone }, { phone }]);
    weekly.gateway.kept.pop();
    const [message] = weekly.gateway.kept;
    const { sql } = weekly.db;
    await sql`
      select public.reconcile_weekly_performance_delivery(
        ${one!.ids[0]!}::uuid, 'sent', ${message!.id}, 'seen on the phone', 'ana')`;
    for (const table of ["timeline_entries", "resend_email_sends", "social_account_scores"])
      await sql`delete from ${sql(table)} where user_id = ${one!.owner.userId}`;
    await sql`delete from users where id = ${one!.owner.userId}`;
    expect(await lookUp({ settleAs: "ana" })).toMatchObject([
      { status: "not_unique", code: "evidence_of_another_delivery", settled: false, state: "unknown" },
    ]);
  });

  test("does not take a message that another operator gives to the other delivery meanwhile", async () => {
    const { doubt, lookUp, weekly } = fixture();
    const [one, other] = await doubt(["whatsapp"], [{ phone }, { phone }]);
    weekly.gateway.kept.pop();
    const [message] = weekly.gateway.kept;
    const reconcile = () => weekly.db.sql`
      select public.reconcile_weekly_performance_delivery(
        ${one!.ids[0]!}::uuid, 'sent', ${message!.id}, 'seen on the phone', 'rui')`;
    const second = await openDatabase(new Secret(weekly.db.url), { max: 1, applicationName: "opsctl-test" });
    try {
      const sql = afterFirst(second.sql, /provider_message_id as id|d\.id <> /, reconcile);
      const [seen] = await lookUp({ ids: other!.ids, settleAs: "ana", dependencies: { sql } });
      expect(seen).toMatchObject({ status: "not_unique", settled: false, state: "unknown" });
      const [row] = await weekly.db.sql`
        select count(*)::int as sent from weekly_performance_deliveries where status = 'sent' and channel = 'whatsapp'`;
      expect(row!.sent).toBe(1);
    } finally {
      await second.close();
    }
  });

  test("tells them apart by their texts", async () => {
    const { doubt, lookUp, weekly } = fixture();
    await doubt(["whatsapp"], [{ phone }, { phone, sends: [] }]);
    expect(new Set(weekly.gateway.kept.map(({ text }) => text)).size).toBe(2);
    expect(await lookUp({ settleAs: "ana" })).toMatchObject([{ settled: true }, { settled: true }]);
  });

  test("counts a number that has been changed since as the same", async () => {
    const { doubt, lookUp, weekly } = fixture();
    const [one, other] = await doubt(["whatsapp"], [{ phone }, { phone }]);
    await weekly.db.sql`update users set phone = '+55 11 95000-0000' where id = ${other!.owner.userId}`;
    const ids = [one!.ids[0]!];
    weekly.gateway.kept.pop();
    expect(await lookUp({ ids })).toMatchObject([{ status: "not_unique", code: "evidence_shared" }]);
    // A corrected area code leaves the end of the number as it was.
    await weekly.db.sql`update users set phone = '+55 21 95111-2222' where id = ${other!.owner.userId}`;
    expect(await lookUp({ ids, settleAs: "ana" })).toMatchObject([
      { status: "not_unique", code: "evidence_shared", settled: false },
    ]);
  });
});

describe("a gateway that does not tell", () => {
  const page: Scripted = {
    status: 200,
    text: "<html>Sign in</html>",
    headers: { "content-type": "text/html" },
  };
  const strange = (record: object): Scripted => ({
    status: 200,
    json: { messages: { total: 1, pages: 1, currentPage: 1, records: [record] } },
  });
  const key = { remoteJid: "x", fromMe: true, id: "3EB0" };

  test.each<[string, Scripted, string]>([
    ["a page of HTML", page, "gateway_answer_unreadable"],
    ["401", { status: 401, json: { response: { message: "Unauthorized" } } }, "gateway_unauthorized"],
    ["429", { status: 429, json: {} }, "gateway_http_429"],
    ["500", { status: 500, json: { response: { message: "Timed Out" } } }, "gateway_http_500"],
    ["502", { status: 502, text: "bad gateway" }, "gateway_http_502"],
    ["no answer in time", "hang", "gateway_timeout"],
    ["a connection that breaks", "drop", "gateway_connection_lost"],
    ["half an answer", "break_body", "gateway_connection_lost"],
    ["an answer without messages", { status: 200, json: [] }, "gateway_answer_unreadable"],
    ["a row without its key", strange({ messageTimestamp: 1 }), "gateway_answer_unreadable"],
    ["a row without its time", strange({ key }), "gateway_answer_unreadable"],
    [
      "an id that is none",
      strange({ key: { ...key, id: "a b" }, messageTimestamp: 1 }),
      "gateway_answer_unreadable",
    ],
  ])("%s: could not be asked", async (_name, scripted, code) => {
    const { lookUp, weekly } = await oneDoubt();
    weekly.gateway.routes.messages.script = () => scripted;
    expect(await lookUp({ settleAs: "ana", ...limitOf(scripted) })).toMatchObject([
      { status: "could_not_be_asked", code, settled: false, state: "unknown" },
    ]);
  });

  test("that has no licence, no such instance, or has not loaded it", async () => {
    const { lookUp, weekly } = await oneDoubt();
    weekly.gateway.isLicensed = false;
    expect(await lookUp()).toMatchObject([{ code: "gateway_license_required" }]);
    weekly.gateway.isLicensed = true;
    weekly.gateway.instances.set("ops", null);
    expect(await lookUp()).toMatchObject([{ code: "gateway_http_500" }]);
    weekly.gateway.instances.delete("ops");
    expect(await lookUp()).toMatchObject([{ status: "could_not_be_asked", code: "sem_instancia_gateway" }]);
  });

  test("finds it all the same while the instance is not connected", async () => {
    const { lookUp, weekly } = await oneDoubt();
    weekly.gateway.instances.set("ops", "close");
    expect(await lookUp()).toMatchObject([{ status: "found" }]);
  });

  test("is asked no more after a refusal, nor after three silences in a row", async () => {
    const { doubt, lookUp, weekly } = fixture();
    await doubt(
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
    const after = await lookUp();
    expect(after.map(({ status }) => status)).toEqual([
      ...Array(2).fill("could_not_be_asked"),
      ...Array(4).fill("found"),
    ]);
  });

  test("has no settings: could not be asked", async () => {
    const { lookUp } = await oneDoubt();
    expect(await lookUp({ dependencies: { whatsapp: null } })).toMatchObject([
      { status: "could_not_be_asked", code: "gateway_not_configured" },
    ]);
  });
});
