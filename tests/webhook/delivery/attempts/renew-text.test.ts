import { expect, test } from "bun:test";
import type { LookUpResult } from "../../../../lib/webhook/delivery/attempts/attempt.ts";
import { mayRenewText } from "../../../../lib/webhook/delivery/attempts/doubt.ts";
import type { DueRow } from "../../../../lib/webhook/state/contract.ts";
import { dueRow } from "../../support/due-row.ts";

const NOT_FOUND: LookUpResult = { status: "not_found" };
const AWAY: LookUpResult = { status: "unanswered", code: "gateway_unreachable" };

test.each<[string, Partial<DueRow>, LookUpResult | null, boolean]>([
  ["a row without an attempt", { text: null }, null, true],
  ["one that was refused clearly", {}, null, true],
  ["one whose attempt has not ended", { isUnsettled: true }, NOT_FOUND, false],
  ["one that an attempt left in doubt", { unclear: 1 }, NOT_FOUND, false],
  ["the same after an outage", { unclear: 1, unansweredForMs: 65_000 }, NOT_FOUND, false],
  ["an outage while a send may be on its way", { unansweredForMs: 64_999 }, NOT_FOUND, false],
  ["an outage when none is", { unansweredForMs: 65_000 }, NOT_FOUND, true],
  ["an outage that goes on", { unansweredForMs: 65_000 }, AWAY, false],
  ["an outage about which nothing was asked", { unansweredForMs: 65_000 }, null, false],
  ["an outage that another row's text met", { text: null, unansweredForMs: 1_000 }, null, true],
])("mayRenewText() of %s", (_what, row, answer, isRenewed) => {
  expect(mayRenewText(dueRow({ text: "text", ...row }), answer)).toBe(isRenewed);
});
