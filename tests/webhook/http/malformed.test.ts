/** Requests that are no proper HTTP: no app sees them, and they are counted and logged all the same. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { connect } from "node:net";
import { type Listener, listen } from "../../../lib/platform/server/server.ts";
import { RefusalReport } from "../../../lib/webhook/http/refusal-report.ts";
import { request, speak } from "../../platform/support/raw-http.ts";
import { silentLog } from "../../support/silent-log.ts";
import { PROBE_SECRET, probeApp } from "../support/app-probe.ts";

const HEAD = "POST /webhook HTTP/1.1\r\nHost: x\r\n";
const MALFORMED: [what: string, text: string, status: number][] = [
  ["bytes that are no HTTP", `\u0016\u0003\u0001\u0002${"\u0000".repeat(300)}\r\n\r\n`, 400],
  ["two lengths", `${HEAD}Content-Length: 5\r\nContent-Length: 0\r\n\r\n`, 400],
  ["no host", "POST /webhook HTTP/1.1\r\nContent-Length: 0\r\n\r\n", 400],
  ["a head that is too large", `${HEAD}X-A: ${"a".repeat(20_000)}\r\n\r\n`, 431],
];

let listener: Listener;
let counted: number[];
let lines: Record<string, unknown>[];
let report: RefusalReport;

beforeEach(async () => {
  counted = [];
  lines = [];
  report = new RefusalReport({ ...silentLog, warn: (_msg, fields = {}) => void lines.push(fields) });
  const metrics = { request: (status: number) => void counted.push(status), rejected() {} };
  const { fetch, malformed } = probeApp(metrics, report);
  listener = await listen({ host: "127.0.0.1", port: 0, fetch, limits: { onMalformed: malformed } });
});
afterEach(() => listener.stop(0));

test.each(MALFORMED)("%s: counted, and logged with its sender, once", async (_what, text, status) => {
  await speak(listener.port, [Buffer.from(text, "latin1")]);
  expect(counted).toEqual([status]);
  const line = { status, code: "malformed_request", address: "127.0.0.1", forwardedFor: null };
  expect(lines).toEqual(status === 400 ? [line] : []);
});

test("have at most ten lines a minute with all other refusals, and one with their number", async () => {
  const [, text] = MALFORMED[0]!;
  for (let at = 0; at < 14; at += 1) await speak(listener.port, [Buffer.from(text, "latin1")]);
  expect(lines).toHaveLength(10);
  report.minute();
  expect(lines.at(-1)).toEqual({ requests: { malformed_request: 4 }, entries: 0 });
});

test("are neither a connection that breaks or says nothing, nor what comes after a refusal", async () => {
  const broken = connect(listener.port, "127.0.0.1", () => {
    broken.write(HEAD);
    broken.resetAndDestroy();
  });
  await new Promise((resolve) => broken.once("close", resolve));
  await speak(listener.port, [
    Buffer.from(`${request("POST /webhook", [], "{}")}\u0000\u0000\r\n\r\n`, "latin1"),
  ]);
  const good = request(
    "POST /webhook",
    [`X-Webhook-Secret: ${PROBE_SECRET}`],
    '{"status":"resolved","labels":{"alertname":"A"}}',
  );
  expect((await speak(listener.port, [good])).status).toBe(200);
  expect(counted).toEqual([401, 200]);
  expect(lines.map(({ code }) => code)).toEqual(["invalid_secret"]);
});
