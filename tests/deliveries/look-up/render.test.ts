import { expect, test } from "bun:test";
import type { LookUp } from "../../../lib/deliveries/look-up/look-up.ts";
import { renderLookUps } from "../../../lib/deliveries/look-up/render.ts";
import { NO_TERMINAL } from "../../../lib/text/terminal/screen.ts";
import { terminal } from "../../text/support/terminal.ts";

const ID = "3f2b8c1e-5d47-4a90-9c36-0e1f2a3b4c5d";
const one = (facts: Partial<LookUp>): LookUp => ({
  id: ID,
  channel: "whatsapp",
  week: "2026-11-16",
  tenantId: "9e4d8c1e-5d47-4a90-9c36-0e1f2a3b4c5d",
  status: "found",
  code: null,
  providerMessageId: null,
  sentAt: null,
  providerStatus: null,
  state: "unknown",
  settled: false,
  remark: null,
  ...facts,
});
const found = { providerMessageId: "3EB0A2915FE79939010BFB", sentAt: "2026-11-23T11:00:03Z" };

test("renderLookUps() says what was found, and how to record it", () => {
  expect(renderLookUps([one(found)], NO_TERMINAL)).toBe(
    [
      "ID                                    CHANNEL   WEEK        RESULT  CODE  PROVIDER ID             SENT (SÃO PAULO)     STATE",
      `${ID}  whatsapp  2026-11-16  found   -     3EB0A2915FE79939010BFB  2026-11-23 08:00:03  unknown`,
      "",
      "1 found.",
      "",
      "Next:",
      `  Record what was found: opsctl deliveries look-up ${ID} --settle`,
      "",
    ].join("\n"),
  );
});

test("renderLookUps() does not offer to record what the provider did not send", () => {
  const refused = one({ ...found, code: "evidence_not_sent", providerStatus: "ERROR" });
  expect(renderLookUps([refused], NO_TERMINAL)).toEndWith(
    `Next:\n  Decide the others manually: opsctl deliveries show ${ID}\n`,
  );
});

test("renderLookUps() says what the ledger remarks on what was recorded", () => {
  const recorded = one({ ...found, state: "sent", settled: true, remark: "timeline_entry_failed" });
  const text = renderLookUps([recorded], NO_TERMINAL);
  expect(text).toContain("  found   timeline_entry_failed  ");
  expect(text).toEndWith(
    "\n1 found (1 settled as sent).\n" +
      "  timeline_entry_failed: write the missing entries with opsctl deliveries repair.\n",
  );
});

test("renderLookUps() of several counts each end, records all that was found, and names the first to decide about", () => {
  const ends = [
    one(found),
    one({ id: "not-in-doubt", status: "not_in_doubt", state: "sent" }),
    one({ id: "not-unique", status: "not_unique", code: "evidence_several" }),
  ];
  expect(renderLookUps(ends, NO_TERMINAL)).toEndWith(
    [
      "\n1 found, 1 not unique, 1 not in doubt.",
      "  evidence_several: there are several messages like it; find out which one is this delivery's.",
      "",
      "Next:",
      "  Record what was found: opsctl deliveries look-up --all --settle",
      "  Decide the others manually: opsctl deliveries show not-unique",
      "",
    ].join("\n"),
  );
});

test("renderLookUps() says once for all why not finding it proves nothing", () => {
  const text = renderLookUps(
    [
      one({ status: "not_found", code: "message_not_found" }),
      one({ status: "not_found", code: "message_not_found" }),
      one({ status: "not_found", code: "email_not_found", channel: "email" }),
    ],
    NO_TERMINAL,
  );
  expect(text).toContain("3 not found.\n");
  expect(text.match(/not found at the gateway proves nothing/g)).toHaveLength(1);
  expect(text.match(/not found at the e-mail provider proves nothing/g)).toHaveLength(1);
  expect(text).toEndWith(
    `  Decide the others manually: opsctl deliveries show ${ID}\n` +
      "  All that is in doubt: opsctl deliveries list --state unknown\n",
  );
});

test.each([
  ["evidence_shared", "a number with the same end, with the same text"],
  ["recipient_changed", "users.phone is another number by now"],
  ["restricted_api_key", "Set EMAIL_READ_API_KEY"],
  ["gateway_unauthorized", "Correct GATEWAY_ADMIN_KEY"],
  ["gateway_http_502", "answers HTTP 502"],
])("renderLookUps() says what to do about %s", (code, advice) => {
  expect(renderLookUps([one({ status: "could_not_be_asked", code })], NO_TERMINAL)).toContain(advice);
});

test("renderLookUps() of nothing, and a code without advice", () => {
  expect(renderLookUps([], NO_TERMINAL)).toBe("No delivery is in doubt.\n");
  expect(
    renderLookUps([one({ status: "could_not_be_asked", code: "email_http_599" })], NO_TERMINAL),
  ).toEndWith("1 could not be asked.\n");
});

test("renderLookUps() fits a narrow terminal, and leaves ids and commands whole", () => {
  const lookUps = [one(found), one({ status: "not_found", code: "message_not_found" })];
  const text = renderLookUps(lookUps, terminal(80));
  expect(text).toStartWith(
    [
      `id: ${ID}  channel: whatsapp  week: 2026-11-16`,
      "    result: found  provider id: 3EB0A2915FE79939010BFB",
      "    sent (São Paulo): 2026-11-23 08:00:03  state: unknown",
      `id: ${ID}`,
    ].join("\n"),
  );
  const tooLong = text.split("\n").filter((line) => line.length > 80 && !line.includes("opsctl deliveries"));
  expect(tooLong).toEqual([]);
});
