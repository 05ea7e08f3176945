import { describe, expect, test } from "bun:test";
import { createLog } from "../../../../lib/platform/log/log.ts";
import { reportSettlement } from "../../../../lib/webhook/delivery/sending/report.ts";
import { createWebhookMetrics } from "../../../../lib/webhook/metrics/metrics.ts";
import type { DueRow, Settlement } from "../../../../lib/webhook/state/contract.ts";
import { parsePrometheus } from "../../../text/support/prometheus-parser.ts";
import { dueRow } from "../../support/due-row.ts";
import { sampleAlert } from "../../support/sample-alert.ts";

const ROW = dueRow({ id: 4, alert: sampleAlert({ fingerprint: "f4" }), attempts: 1, waitedMs: 60_000 });
/** Told together: at the first attempt as rows, at each later one by the ids that the first one kept. */
const TOGETHER = {
  rows: [ROW, { ...ROW, id: 5, waitedMs: 30_000 }],
  ids: [{ ...ROW, members: [5] }],
} as const;
const DELIVERED = { status: "delivered", reference: "id", url: null } as const;
const RETRY = {
  status: "retry",
  delayMs: 5_000,
  code: "gateway_http_502",
  triedMs: 9,
  isUnclear: false,
} as const;
const DEAD = { status: "dead", code: "gateway_http_400" } as const;
const IN_DOUBT = { status: "in_doubt", code: "gateway_timeout" } as const;

/** The line and the counters that a settlement leaves. */
function reported(settlement: Settlement, rows: readonly [DueRow, ...DueRow[]] = [ROW]) {
  const written: string[] = [];
  const log = createLog({ stream: { write: (text) => written.push(text) }, format: "json", level: "debug" });
  const metrics = createWebhookMetrics({ version: "1" });
  reportSettlement({ kind: "message", metrics, log }, rows, { settlement, cause: "ECONNRESET", tookMs: 500 });
  const text = metrics.render({
    stats: null,
    stops: { message: null, issue: null, comment: null },
    isLeading: true,
    movedAside: false,
    watch: { gatewayOpen: null, pendingMessages: null, newestUnacknowledged: null },
  });
  const samples = parsePrometheus(text).flatMap((family) => family.samples);
  const of = (name: string) =>
    samples.find((one) => one.name === `opsctl_webhook_${name}` && one.labels.kind === "whatsapp")!.value;
  const lines = written.map((line) => JSON.parse(line)).map(({ time: _, ...rest }) => rest);
  return {
    lines,
    counts: { sent: of("sent_total"), dead: of("dead_total"), waited: of("delivery_latency_seconds_sum") },
  };
}

describe("reportSettlement()", () => {
  const facts = { kind: "message", row: 4, fingerprint: "f4", attempt: 2 };

  test.each([
    [DELIVERED, { level: "info", msg: "Delivered an alert" }],
    [
      RETRY,
      {
        ...{ level: "warn", msg: "An alert could not be delivered yet" },
        ...{ code: "gateway_http_502", cause: "ECONNRESET", againInMs: 5_000 },
      },
    ],
    [
      IN_DOUBT,
      {
        ...{ level: "error", msg: "An alert may have been delivered or not; see opsctl webhook dead list" },
        code: "gateway_timeout",
      },
    ],
    [
      DEAD,
      {
        ...{ level: "error", msg: "Gave an alert up; see opsctl webhook dead list" },
        ...{ code: "gateway_http_400", cause: "ECONNRESET" },
      },
    ],
  ])("writes one line with the row, the alert and the attempt: $status", (settlement, line) => {
    expect(reported(settlement).lines).toEqual([{ ...facts, ...line }]);
    for (const rows of [TOGETHER.rows, TOGETHER.ids])
      expect(reported(settlement, rows).lines).toEqual([{ ...facts, others: [5], ...line }]);
  });

  test("counts each alert that was told, with its wait and the attempt", () => {
    expect(reported(DELIVERED).counts).toEqual({ sent: 1, dead: 0, waited: 60.5 });
    expect(reported(DELIVERED, TOGETHER.rows).counts).toEqual({ sent: 2, dead: 0, waited: 60.5 + 30.5 });
    expect(reported(DELIVERED, TOGETHER.ids).counts).toEqual({ sent: 2, dead: 0, waited: 60.5 + 60.5 });
  });

  test("counts each alert that was given up, and none that is tried again or in doubt", () => {
    expect(reported(DEAD).counts).toEqual({ sent: 0, dead: 1, waited: 0 });
    for (const rows of [TOGETHER.rows, TOGETHER.ids])
      expect(reported(DEAD, rows).counts).toEqual({ sent: 0, dead: 2, waited: 0 });
    for (const settlement of [RETRY, IN_DOUBT])
      expect(reported(settlement, TOGETHER.rows).counts).toEqual({ sent: 0, dead: 0, waited: 0 });
  });
});
