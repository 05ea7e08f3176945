import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { RefusalReport, senderOf } from "../../../lib/webhook/http/refusal-report.ts";
import { silentLog } from "../../support/silent-log.ts";

const SENDER = { address: "172.18.0.2", forwardedFor: null };

function reporting() {
  const lines: [string, Record<string, unknown>][] = [];
  const log = {
    ...silentLog,
    warn: (msg: string, fields: Record<string, unknown> = {}) => void lines.push([msg, fields]),
  };
  return { report: new RefusalReport(log), lines };
}

describe("senderOf()", () => {
  test.each<[string | null, string | null, object]>([
    ["172.18.0.2", null, { address: "172.18.0.2", forwardedFor: null }],
    ["::ffff:172.18.0.2", "203.0.113.9", { address: "172.18.0.2", forwardedFor: "203.0.113.9" }],
    ["::1", "10.0.0.1, 2001:db8::7", { address: "::1", forwardedFor: "2001:db8::7" }],
    [null, "203.0.113.9, unknown", { address: null, forwardedFor: null }],
    ["172.18.0.2", "203.0.113.9:4711", { address: "172.18.0.2", forwardedFor: null }],
    ["172.18.0.2", "canary <script>", { address: "172.18.0.2", forwardedFor: null }],
    ["172.18.0.2", ",", { address: "172.18.0.2", forwardedFor: null }],
  ])("%p, forwarded for %p", (address, forwarded, sender) => {
    const headers = new Headers(forwarded === null ? {} : { "x-forwarded-for": forwarded });
    expect<object>(senderOf(headers, address)).toEqual(sender);
  });
});

describe("RefusalReport", () => {
  test("logs each refusal that a fault can bring, and none of those that strangers bring by looking around", () => {
    const { report, lines } = reporting();
    for (const status of [400, 401, 404, 405, 408, 413, 415, 422, 503])
      report.refused(status, "code", SENDER);
    expect(lines.map(([, { status }]) => status)).toEqual([400, 401, 408, 413, 415, 422, 503]);
    expect(lines[0]).toEqual(["A request was refused", { status: 400, code: "code", ...SENDER }]);
  });

  test("logs every refusal of a sender that has the secret: a platform that posts elsewhere is no stranger", () => {
    const { report, lines } = reporting();
    for (const status of [404, 405]) report.refused(status, "code", SENDER, { hasSecret: true });
    expect(lines.map(([, { status }]) => status)).toEqual([404, 405]);
    expect(lines[0]).toEqual(["A request was refused", { status: 404, code: "code", ...SENDER }]);
  });

  test("logs entries rejected inside an accepted request", () => {
    const { report, lines } = reporting();
    report.rejected(3, SENDER);
    expect(lines).toEqual([["Entries of an accepted request are no alerts", { entries: 3, ...SENDER }]]);
  });

  test("writes ten lines a minute, then at its end what the others were, and begins anew", () => {
    const { report, lines } = reporting();
    for (let at = 0; at < 25; at += 1) report.refused(401, "invalid_secret", SENDER);
    report.refused(503, "overloaded", SENDER);
    report.rejected(4, SENDER);
    expect(lines).toHaveLength(10);
    report.minute();
    expect(lines.slice(10)).toEqual([
      [
        "More was refused in the last minute",
        { requests: { invalid_secret: 15, overloaded: 1 }, entries: 4 },
      ],
    ]);
    report.minute();
    expect(lines).toHaveLength(11);
    report.refused(401, "invalid_secret", SENDER);
    expect(lines).toHaveLength(12);
  });

  test("loses none: lines and counts together are what came", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("refused", "rejected", "minute"), { maxLength: 200 }),
        (events) => {
          const { report, lines } = reporting();
          for (const event of events) {
            if (event === "refused") report.refused(401, "invalid_secret", SENDER);
            else if (event === "rejected") report.rejected(2, SENDER);
            else report.minute();
          }
          report.minute();
          const sum = (of: (fields: Record<string, unknown>) => unknown) =>
            lines.reduce((total, [, fields]) => total + Number(of(fields) ?? 0), 0);
          const requests = sum((fields) => (fields.status === 401 ? 1 : 0));
          const counted = sum(({ requests: more }) => (more as Record<string, number>)?.invalid_secret);
          expect(requests + counted).toBe(events.filter((event) => event === "refused").length);
          expect(sum(({ entries }) => entries)).toBe(
            2 * events.filter((event) => event === "rejected").length,
          );
        },
      ),
    );
  });

  test("counts each minute until it is ended, the last one too", async () => {
    const { report, lines } = reporting();
    const end = new AbortController();
    let slept = 0;
    const sleep = async (ms: number) => {
      expect(ms).toBe(60_000);
      for (let at = 0; at < 11; at += 1) report.refused(401, "invalid_secret", SENDER);
      slept += 1;
      if (slept === 3) {
        end.abort();
        throw new Error("aborted");
      }
    };
    await report.run(sleep, end.signal);
    const counts = lines.filter(([msg]) => msg.startsWith("More"));
    expect(counts.map(([, { requests }]) => requests)).toEqual(Array(3).fill({ invalid_secret: 1 }));
  });
});
