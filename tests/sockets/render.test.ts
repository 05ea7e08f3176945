import { expect, test } from "bun:test";
import type { AlertOutcome } from "../../lib/sockets/alert.ts";
import { renderMonitored } from "../../lib/sockets/run.ts";

const monitored = (total: number | null, alert: AlertOutcome = "not_needed") => ({
  readings: {
    ...{ time: "2026-11-16T12:00:00.000Z", threshold: 10_000, total, closeWait: 7 },
    ...{ load1: 1, load5: 1, load15: 1, proxyMemoryBytes: null },
  },
  alert,
  problems: [],
});

test.each<[AlertOutcome, string]>([
  ["not_needed", "no alert"],
  ["sent", "alert sent"],
  ["suppressed", "alert already sent less than 30 minutes ago"],
  ["failed", "alert not sent"],
])("renderMonitored() says in one line: %s", (alert, said) => {
  const line = `10001 TCP sockets (threshold 10000), 7 in CLOSE_WAIT: ${said}\n`;
  expect(renderMonitored(monitored(10_001, alert), null)).toBe(line);
});

test("renderMonitored() says that there is no count, and no zero", () => {
  expect(renderMonitored(monitored(null), null)).toBe("The sockets could not be counted\n");
});
