import { expect, test } from "bun:test";
import { renderDelivery } from "../../lib/deliveries/render.ts";
import { showDelivery } from "../../lib/deliveries/show.ts";
import { NO_TERMINAL } from "../../lib/text/terminal/screen.ts";
import { terminal } from "../text/support/terminal.ts";
import { describeDeliveries, failedDelivery, withoutEntry } from "./support/deliveries.ts";

describeDeliveries("showDelivery()", (ledger) => {
  const shown = async (id: string) => {
    const details = await showDelivery(ledger.sql, id);
    return { ...details, text: renderDelivery(details, NO_TERMINAL) };
  };

  test("says how to look an unknown e-mail up, and how to reconcile it", async () => {
    const { id } = await ledger.unknownDelivery("email");
    const { delivery, text } = await shown(id);
    expect(delivery).toMatchObject({ state: "unknown", code: "provider_timeout" });
    expect(text.replace(/\s+/g, " ")).toContain(`tag delivery_id=${id}`);
    expect(text).toContain(`weekly-performance-email/${id}`);
    expect(text).toContain(
      `opsctl deliveries reconcile ${id} --to sent --provider-message-id <id> --reason <text>`,
    );
    expect(text).toContain(`opsctl deliveries reconcile ${id} --to failed --reason <text>`);
  });

  test("says how to look an unknown WhatsApp message up, and what not finding it proves", async () => {
    const { id } = await ledger.unknownDelivery("whatsapp");
    const { text } = await shown(id);
    expect(text).toContain(`Next:\n  The provider may have accepted`);
    expect(text).toContain(`opsctl deliveries look-up ${id}\n`);
    expect(text.indexOf("look-up")).toBeLessThan(text.indexOf("reconcile"));
    const words = text.replace(/\s+/g, " ");
    expect(words).toContain("at about 2026-11-23 08:00:00 (São Paulo), or ask the recipient");
    expect(words).toContain("Not finding it at the gateway proves nothing");
  });

  test.each(["email", "whatsapp"] as const)(
    "keeps the commands about an unknown %s whole, and fits the terminal",
    async (channel) => {
      const { id } = await ledger.unknownDelivery(channel);
      const lines = renderDelivery(await showDelivery(ledger.sql, id), terminal(80)).split("\n");
      const commands = lines.filter((line) => line.includes("opsctl deliveries"));
      expect(commands.map((line) => line.slice(line.indexOf("opsctl")))).toEqual([
        `opsctl deliveries look-up ${id}`,
        `opsctl deliveries look-up ${id} --settle`,
        `opsctl deliveries reconcile ${id} --to sent --provider-message-id <id> --reason <text>`,
        `opsctl deliveries reconcile ${id} --to failed --reason <text>`,
      ]);
      expect(lines.filter((line) => !line.startsWith("    opsctl") && line.length > 80)).toEqual([]);
    },
  );

  test("shows who reconciled it, oldest first, each on a line of its own", async () => {
    const claim = await ledger.unknownDelivery("email");
    await ledger.reconcile(claim.id, "failed", null, "Not in the log", "ana");
    const { report_id: report } = await ledger.delivery(claim.id);
    const again = await ledger.claimDelivery(report, "email");
    await ledger.dispatch(again, "f***@example.com");
    await ledger.settle(again, "unknown", null, "provider_timeout");
    await ledger.moveClock("2 days");
    await ledger.reconcile(claim.id, "sent", "provider-id", "Found\n\u001b[31mby its tag", "rui\u202e");
    const { reconciliations, next, text } = await shown(claim.id);
    expect(reconciliations).toEqual([
      {
        state: "failed",
        providerMessageId: null,
        reason: "Not in the log",
        actor: "ana",
        sessionUser: "postgres",
        at: "2026-11-23T11:00:00Z",
      },
      {
        state: "sent",
        providerMessageId: "provider-id",
        reason: "Found\n\u001b[31mby its tag",
        actor: "rui\u202e",
        sessionUser: "postgres",
        at: "2026-11-25T11:00:00Z",
      },
    ]);
    expect(next).toEqual([]);
    expect(text).toContain("  2026-11-23 08:00:00  failed by ana (login postgres): Not in the log\n");
    expect(text).toContain("  2026-11-25 08:00:00  sent by rui (login postgres): Found [31mby its tag\n");
  });

  test("says until when a failed delivery is tried again, or that its week is closed", async () => {
    const { id } = await failedDelivery(ledger);
    expect((await shown(id)).next).toEqual([
      "Nothing was sent. Correct what recipient_phone_missing names and run opsctl weekly again before 2026-11-24 00:00:00 (São Paulo).",
    ]);
    await ledger.moveClock("1 day");
    const { next, text } = await shown(id);
    expect(next).toEqual(["Nothing was sent. The week is closed: this delivery is not tried again."]);
    expect(text).toContain("Retry until   closed\n");
  });

  test("says that a run has claimed a running delivery, and until when", async () => {
    const claim = await ledger.dispatchedDelivery("email");
    expect((await shown(claim.id)).next).toEqual([
      "A run holds this delivery until 2026-11-23 08:05:00 (São Paulo); the next run after that decides about it.",
    ]);
  });

  test("shows a dispatched delivery whose lease has expired as unknown, and says how to decide it", async () => {
    const claim = await ledger.dispatchedDelivery("email");
    await ledger.moveClock("4 minutes 59 seconds");
    expect((await shown(claim.id)).delivery).toMatchObject({ state: "running", code: null });
    await ledger.moveClock("1 second");
    const { delivery, next } = await shown(claim.id);
    expect(delivery).toMatchObject({
      state: "unknown",
      code: "lease_expired_after_dispatch",
      leaseExpiresAt: null,
      settledAt: null,
    });
    expect(next).toContain(`Ask the provider: opsctl deliveries look-up ${claim.id}`);
    await ledger.reconcile(claim.id, "sent", `found-${claim.id}`);
    expect((await shown(claim.id)).delivery).toMatchObject({ state: "sent", code: null });
  });

  test("shows an undispatched delivery whose lease has expired as failed: nothing was sent", async () => {
    const { id } = await ledger.claimDelivery(await ledger.completedReport());
    await ledger.moveClock("5 minutes");
    const { delivery, next } = await shown(id);
    expect(delivery).toMatchObject({
      state: "failed",
      code: "lease_expired_before_dispatch",
      retryableUntil: "2026-11-24T03:00:00Z",
    });
    expect(next).toEqual([
      "Nothing was sent: its run has ended. Run opsctl weekly again before 2026-11-24 00:00:00 (São Paulo).",
    ]);
    await ledger.moveClock("1 day");
    expect((await shown(id)).next).toEqual([
      "Nothing was sent. The week is closed: this delivery is not tried again.",
    ]);
  });

  test("says how a missing timeline entry is written", async () => {
    const { id } = await withoutEntry(ledger);
    expect((await shown(id)).next).toContain(
      "The next run writes the entry, or on any day: opsctl deliveries repair",
    );
  });

  test("fails with DELIVERY_NOT_FOUND", async () => {
    const id = crypto.randomUUID();
    await expect(showDelivery(ledger.sql, id)).rejects.toMatchObject({
      code: "DELIVERY_NOT_FOUND",
      message: `Cannot find delivery ${id}: the ledger has no such row`,
    });
  });
});
