/** What `--settle` records, who may record it, and that it never sends. */
import { describe, expect, test } from "bun:test";
import { renderLookUps } from "../../../lib/deliveries/look-up/render.ts";
import { openDatabase } from "../../../lib/platform/database/pool.ts";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { NO_TERMINAL } from "../../../lib/text/terminal/screen.ts";
import { lookUpFixture } from "../support/look-up-fixture.ts";

const fixture = lookUpFixture();

/** What every peer was asked to send, by method and path. */
function sends() {
  const { gateway, email, application } = fixture().weekly;
  const isRead = ({ method, path }: { method: string; path: string }) =>
    method === "GET" || path.startsWith("/chat/findMessages/");
  return [gateway, email, application].flatMap(({ ledger }) => ledger).filter((entry) => !isRead(entry));
}

const reconciliations = () => fixture().weekly.db.sql`
  select delivery_id as id, status, provider_message_id as "messageId", reason, actor
  from weekly_performance_reconciliations`;

describe("look-up --settle", () => {
  test("records what was found as sent, with the evidence as reason, and sends nothing", async () => {
    const { leaveUnknown, lookUp, weekly } = fixture();
    const [{ ids, owner } = { ids: [], owner: null }] = await leaveUnknown(["whatsapp", "email"]);
    const before = sends().length;
    weekly.gateway.kept[0]!.statuses = ["SERVER_ACK"];
    const settled = await lookUp({ settleAs: "ana" });
    for (const id of ids)
      expect(settled).toContainEqual(
        expect.objectContaining({ id, status: "found", state: "sent", settled: true }),
      );
    const messageIds = [weekly.gateway.kept[0]!.id, weekly.email.accepted[0]!.id];
    const rows = await reconciliations();
    expect(rows.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    for (const [at, id] of ids.entries())
      expect(rows.find((row) => row.id === id)).toEqual({
        id,
        status: "sent",
        messageId: messageIds[at],
        reason: [
          "opsctl deliveries look-up: the gateway keeps one message with this text to this recipient, " +
            "sent 2026-11-23 08:00:03 (São Paulo), 3 s after the dispatch, status SERVER_ACK",
          "opsctl deliveries look-up: the e-mail provider keeps one e-mail with this delivery's tag, " +
            "sent 2026-11-23 08:00:03 (São Paulo), 3 s after the dispatch, status sent",
        ][at],
        actor: "ana",
      });
    const entries = await weekly.db.sql`select metadata ->> 'deliveryId' as id from timeline_entries`;
    expect(entries.map(({ id }) => id)).toEqual([ids[0]!]);
    expect(sends()).toHaveLength(before);
    expect(
      `${JSON.stringify(settled)}${renderLookUps(settled, NO_TERMINAL)}${JSON.stringify(rows)}`,
    ).not.toMatch(
      new RegExp(`${owner!.phone!.replace(/\D/g, "").slice(2)}|${owner!.email!.split("@")[0]}|@`),
    );
    expect(await lookUp({ settleAs: "ana" })).toEqual([]);
    expect(sends()).toHaveLength(before);
  });

  test("takes a delivery whose run was killed, once its lease has expired", async () => {
    const { leaveUnknown, lookUp, weekly } = fixture();
    const [one] = await leaveUnknown(["email"]);
    await weekly.db.sql.begin(async (tx) => {
      await tx`set local session_replication_role = replica`;
      await tx`
        update weekly_performance_deliveries
        set status = 'running', error_code = null, settled_at = null, provider_message_id = null,
            lease_expires_at = weekly_performance_now() + interval '1 second' where channel = 'email'`;
    });
    expect(await lookUp()).toEqual([]);
    expect(await lookUp({ ids: one!.ids })).toMatchObject([
      { status: "could_not_be_asked", code: "delivery_busy", state: "running" },
    ]);
    await weekly.db.sql`
      update weekly_performance_deliveries set lease_expires_at = weekly_performance_now() where channel = 'email'`;
    expect(await lookUp({ settleAs: "ana" })).toMatchObject([{ state: "sent", settled: true }]);
  });

  test("names the deliveries that are decided, and asks nobody about them", async () => {
    const { leaveUnknown, lookUp, weekly } = fixture();
    const [one] = await leaveUnknown(["email"]);
    await lookUp({ settleAs: "ana" });
    weekly.email.ledger.length = 0;
    expect(await lookUp({ ids: one!.ids, settleAs: "rui" })).toMatchObject([
      { status: "not_in_doubt", state: "sent", settled: false },
    ]);
    expect(weekly.email.ledger).toEqual([]);
    await expect(lookUp({ ids: [...one!.ids, crypto.randomUUID()] })).rejects.toMatchObject({
      code: "DELIVERY_NOT_FOUND",
    });
  });

  test.each(["ana@client.example", "11 98765-4321", " ", "x".repeat(201)])(
    "refuses the actor %p before anybody is asked",
    async (settleAs) => {
      const { leaveUnknown, lookUp, weekly } = fixture();
      await leaveUnknown(["whatsapp"]);
      await expect(lookUp({ settleAs })).rejects.toMatchObject({ code: "RECONCILE_INVALID" });
      expect(weekly.gateway.routes.messages.calls).toEqual([]);
    },
  );

  test("two operators at once settle each delivery once, and the other sees it settled", async () => {
    const { leaveUnknown, lookUp, weekly } = fixture();
    const unknowns = await leaveUnknown(
      ["whatsapp", "email"],
      Array.from({ length: 8 }, () => ({})),
    );
    const second = await openDatabase(new Secret(weekly.db.url), { max: 1, applicationName: "opsctl-test" });
    try {
      const both = await Promise.all([
        lookUp({ settleAs: "ana" }),
        lookUp({ settleAs: "rui", dependencies: { sql: second.sql } }),
      ]);
      const ids = unknowns.flatMap((one) => one.ids);
      for (const id of ids) {
        const seen = both.map((lookUps) => lookUps.find((one) => one.id === id));
        expect(seen.filter((one) => one?.settled)).toHaveLength(1);
        for (const one of seen) expect([undefined, "sent"]).toContain(one?.state as "sent");
      }
      expect((await reconciliations()).map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    } finally {
      await second.close();
    }
  });

  test("finds the delivery settled that somebody decided while the provider was asked", async () => {
    const { leaveUnknown, lookUp, weekly } = fixture();
    const [one] = await leaveUnknown(["whatsapp"]);
    const [id] = one!.ids;
    const { messages } = weekly.gateway.routes;
    let decided: Promise<unknown> | undefined;
    weekly.gateway.latencyMs = 50;
    messages.script = () => {
      decided ??= weekly.db.sql`
        select public.reconcile_weekly_performance_delivery(${id!}::uuid, 'failed', null, 'asked the owner', 'rui')`.execute();
      return undefined;
    };
    const [seen] = await lookUp({ settleAs: "ana" });
    await decided;
    expect(seen).toMatchObject({ status: "found", settled: false, state: "failed" });
    expect(await reconciliations()).toHaveLength(1);
  });

  test("leaves a message alone that was given to another delivery at the last moment", async () => {
    const { leaveUnknown, lookUp, weekly } = fixture();
    const [one, other] = await leaveUnknown(["email"], [{}, {}]);
    const { sql } = weekly.db;
    const [holder] = await sql`
      select d.id from weekly_performance_deliveries as d where d.id = ${other!.ids[0]!}`;
    const mine = weekly.email.accepted.find(({ tags }) => tags![0]!.value === one!.ids[0]);
    // The holder gets it after the evidence was judged: the reading of each e-mail is the last thing that is asked.
    let given: Promise<unknown> | undefined;
    weekly.email.latencyMs = 50;
    weekly.email.routes.email.script = () => {
      given ??= sql`
        select public.reconcile_weekly_performance_delivery(
          ${holder!.id}::uuid, 'sent', ${mine!.id}, 'seen in the log', 'rui')`.execute();
      return undefined;
    };
    const lookUps = await lookUp({ ids: one!.ids, settleAs: "ana" });
    await given;
    expect(lookUps).toMatchObject([
      { status: "found", settled: false, state: "unknown", remark: "evidence_of_another_delivery" },
    ]);
    expect(renderLookUps(lookUps, NO_TERMINAL)).toContain(
      "the ledger has that message with another delivery",
    );
  });

  test("remarks a missing timeline entry", async () => {
    const { leaveUnknown, lookUp, weekly } = fixture();
    await leaveUnknown(["whatsapp"]);
    await weekly.db.sql`alter table timeline_entries add constraint no_entries check (false) not valid`;
    try {
      const settled = await lookUp({ settleAs: "ana" });
      expect(settled).toMatchObject([{ state: "sent", settled: true, remark: "timeline_entry_failed" }]);
      expect(renderLookUps(settled, NO_TERMINAL)).toContain("opsctl deliveries repair");
    } finally {
      await weekly.db.sql`alter table timeline_entries drop constraint no_entries`;
    }
  });
});

test("look-up asks the gateway one question at a time, reads the provider's list once, and settles all", async () => {
  const { leaveUnknown, lookUp, weekly } = fixture();
  // Both services are given up after ten unknown results in a row.
  await leaveUnknown(
    ["whatsapp", "email"],
    Array.from({ length: 8 }, () => ({})),
  );
  let most = 0;
  weekly.gateway.latencyMs = 2;
  weekly.gateway.routes.messages.script = () => {
    const { calls } = weekly.gateway.routes.messages;
    most = Math.max(most, calls.filter(({ status }) => status === null).length);
    return undefined;
  };
  const lookUps = await lookUp({ settleAs: "ana" });
  expect(lookUps.map(({ settled }) => settled)).toEqual(Array(16).fill(true));
  expect(new Set(lookUps.map(({ providerMessageId }) => providerMessageId)).size).toBe(16);
  expect(most).toBe(1);
  expect(weekly.email.routes.list.calls).toHaveLength(1);
  expect([weekly.gateway.accepted.length, weekly.email.accepted.length]).toEqual([8, 8]);
});
