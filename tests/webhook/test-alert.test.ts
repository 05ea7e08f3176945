import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { withoutControls } from "../../lib/platform/replace-unseen.ts";
import { Secret } from "../../lib/platform/secrets/secret.ts";
import { NO_TERMINAL } from "../../lib/text/terminal/screen.ts";
import type { AlertAnswer } from "../../lib/webhook/delivery/alert-answer.ts";
import { renderTestReport, sendTestAlert } from "../../lib/webhook/test-alert.ts";

let reply = () => new Response();

const server = createServer(async (_request, response) => {
  const answer = reply();
  response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "text/plain" });
  response.end(await answer.text());
});

beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
afterAll(() => server.close());

/** A refusal as a service of opsctl words it. */
const refused = (status: number, code: string) => () => Response.json({ error: { code } }, { status });

const send = () =>
  sendTestAlert(
    {
      url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`),
      secret: new Secret("canary-secret"),
      fingerprint: "prova",
      nowIso: "2026-11-22T12:00:00Z",
      state: null,
      waitMs: 0,
      sleep: async () => {},
    },
    { withIssue: true },
  );

describe("sendTestAlert()", () => {
  const ISSUES: Record<AlertAnswer["issue"], RegExp> = {
    created: /^Issue {5}created$/m,
    duplicate: /^Issue {5}accepted, not created yet$/m,
    queued: /^Issue {5}accepted, not created yet$/m,
    refused: /^Issue {5}refused by Linear\n {10}-> opsctl webhook dead list has the reason$/m,
    not_firing: /^Issue {5}skipped \(--without-issue\)$/m,
  };
  test.each(Object.entries(ISSUES))("understands every answer about the issue: %s", async (issue, line) => {
    const alert = { whatsapp: "sent", issue, durable: false };
    reply = () => Response.json({ accepted: 1, durable: false, alerts: [alert] });
    const shown = renderTestReport(await send(), NO_TERMINAL);
    expect(shown).toMatch(/^WhatsApp {2}sent$/m);
    expect(shown).toMatch(line);
  });

  test("shows no code of the state as a terminal would obey it", async () => {
    reply = () => Response.json({ accepted: 1, alerts: [{ whatsapp: "sent", issue: "not_firing" }] });
    const report = { ...(await send()), codes: { message: "canary\u001b]0;title\u0007" } };
    const shown = renderTestReport(report, { width: 60, colour: true, clean: withoutControls });
    expect(shown).toContain("(canary]0;title)");
  });

  test.each<[string, () => Response, RegExp, RegExp]>([
    [
      "a state that is unavailable",
      refused(503, "state_unavailable"),
      /HTTP 503 \(state_unavailable\)$/,
      /journalctl/,
    ],
    ["another secret", refused(401, "invalid_secret"), /HTTP 401 \(invalid_secret\)$/, /WEBHOOK_SECRET/],
    ["another program", () => new Response("<h1>It works</h1>"), /HTTP 200$/, /Another program/],
    ["a code that is none", refused(503, "<b>\n"), /HTTP 503$/, /Another/],
  ])("says why nothing was accepted: %s", async (_what, answer, message, hint) => {
    reply = answer;
    const error = await send().catch((reason) => reason);
    expect(error).toMatchObject({ code: "WEBHOOK_REFUSED" });
    expect(error.message).toMatch(message);
    expect(error.hint).toMatch(hint);
  });
});
