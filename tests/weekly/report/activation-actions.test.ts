import { describe, expect, test } from "bun:test";
import { whatsappPlain } from "../../../lib/text/whatsapp-plain.ts";
import type { Payload } from "../../../lib/weekly/payload.ts";
import { activationActions } from "../../../lib/weekly/report/activation-actions.ts";
import { appLink } from "../../../lib/weekly/texts/report-link.ts";
import { EMAIL_WITHOUT_EVENTS, emailOf, PAYLOADS, payloadOf, unavailable } from "../../fixtures/payloads.ts";

const codes = (channels: Partial<Payload["channels"]>) =>
  activationActions(payloadOf({ channels }).channels).map(({ code }) => code);
const full = PAYLOADS.full!.channels;

describe("activationActions()", () => {
  test("offers to connect and to send before anything else", () => {
    expect(codes({})).toEqual(["connect_instagram", "connect_linkedin", "send_email"]);
    expect(codes({ linkedin: unavailable("analysis_missing") })).toEqual([
      "connect_instagram",
      "send_email",
      "check_linkedin",
    ]);
  });

  test.each([
    ["analysis_missing", "check_instagram"],
    ["Token expirado", "check_instagram"],
    ["analysis_unavailable", "gather_instagram"],
  ])("answers %s with %s", (reason, code) => {
    expect(codes({ ...full, instagram: unavailable(reason) })).toEqual([code]);
  });

  test.each([
    "analysis_malformed",
    "social_left_out",
    "collection_lease_exhausted",
    "APP_HTTP_500",
    "APP_HTTP_401",
    "APP_UNREACHABLE",
    "APP_ANSWER_INVALID",
    "APP_ABORTED",
  ])("never sends the owner to check a connection for %s", (reason) => {
    expect(codes({ ...full, instagram: unavailable(reason) })).toEqual(["open_report"]);
    expect(codes({ linkedin: unavailable(reason) })).toEqual(["connect_instagram", "send_email"]);
  });

  test("asks to look after e-mails whose events never came", () => {
    expect(codes({ ...full, email: emailOf(EMAIL_WITHOUT_EVENTS) })).toEqual(["check_email_events"]);
  });

  test("promises nothing for channels without an integration, and is never empty", () => {
    expect(activationActions(full)).toEqual([
      expect.objectContaining({ code: "open_report", channel: "email", path: "/app/performance" }),
    ]);
  });

  test.each(Object.entries(PAYLOADS))(
    "of the report %s stand in a message as they are",
    (_name, { channels }) => {
      const actions = activationActions(channels);
      expect(actions).not.toEqual([]);
      for (const { channel, label, path } of actions) {
        expect(whatsappPlain(label)).toBe(label);
        expect(label.length).toBeLessThan(100);
        expect(appLink("https://app.example.com", path)).not.toBeNull();
        expect(["email", "instagram", "linkedin"]).toContain(channel);
      }
    },
  );
});
