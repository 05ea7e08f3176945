import { expect, test } from "bun:test";
import { describeLedger, refusal } from "./support/ledger.ts";

const PRIVATE = [
  "Sent to fulano@example.com by hand",
  "fulano.silva+x@sub.example.com",
  "5511987654321@s.whatsapp.net answered",
  "+55 (11) 98765-4321 has it",
  "11 98765-4321",
  "(11)987654321",
  "98765-4321",
  "5511987654321",
  "number 011.98765.4321",
  "+1 415 555 2671",
  "+44 20 7946 0958",
  "On 2026-11-23 the owner of 11987654321 confirmed",
];

const HARMLESS = [
  "Looked up 49a3999c-0ce1-4ea6-ab68-123456789012 at the provider",
  "id 12345678-1234-4234-8234-123456789012",
  "Gateway id BAE5123456789012F4, status READ",
  "Key 3EB0123456789012345678 not in the chat on 2026-11-23 11:05:07.123",
  "Looked on 23/11/2026 at 11:05 and 24/11 at 09:00",
  "f***@example.com confirmed by chat",
  "Hint 4321, ticket 12345678",
  "Three of 30 answers, 429 then 500",
];

describeLedger("the reason of a reconciliation", (ledger) => {
  test("may hold no address and no telephone number", async () => {
    const claim = await ledger.unknownDelivery("email");
    for (const reason of PRIVATE)
      expect([reason, await refusal(ledger.reconcile(claim.id, "failed", null, reason))]).toEqual([
        reason,
        "23514 weekly_performance_reconciliations_privacy",
      ]);
  });

  test("may hold ids, dates, masks and short numbers", async () => {
    for (const reason of HARMLESS) {
      const claim = await ledger.unknownDelivery("email");
      await ledger.reconcile(claim.id, "failed", null, reason);
    }
  });
});
