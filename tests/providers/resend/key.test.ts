import { describe, expect, test } from "bun:test";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { checkResendKey } from "../../../lib/providers/resend/key.ts";
import { type EmailProviderOptions, startEmailProvider } from "../../standins/email-provider.ts";
import { endOf } from "../../standins/given-up.ts";
import type { Scripted } from "../../standins/standin.ts";

const KEY = "re_canary_key_of_this_test";

async function check(options: Partial<EmailProviderOptions> = {}, scripted?: Scripted, key = KEY) {
  const provider = await startEmailProvider({ apiKey: KEY, ...options });
  if (scripted !== undefined) provider.routes.domains.next(scripted);
  try {
    const [baseUrl, apiKey] = [new URL(provider.url), new Secret(key)];
    const state = await endOf(provider, scripted ?? { status: 200 }, (timeoutMs = 60_000) =>
      checkResendKey({ baseUrl, apiKey, timeoutMs }),
    );
    expect(provider.accepted).toEqual([]);
    expect(provider.ledger.map(({ method }) => method)).toEqual(["GET"]);
    return state;
  } finally {
    await provider.stop();
  }
}

const said = (status: number, name: string, message: string): Scripted => ({
  status,
  json: { statusCode: status, name, message },
});

describe("checkResendKey()", () => {
  test("accepts a key that may list domains", async () => {
    expect(await check({ verifiedDomains: ["mail.example"] })).toEqual({ status: "accepted" });
  });
  test("accepts a key that may only send, which the provider refuses here", async () => {
    expect(await check({ sendsOnly: true })).toEqual({ status: "accepted" });
  });
  test("tells a key that the provider does not know", async () => {
    expect(await check({}, undefined, "re_other")).toEqual({
      status: "refused",
      code: "email_api_key_invalid",
    });
  });
  test.each<[string, Scripted, string]>([
    [
      "a 400 with the message alone",
      said(400, "validation_error", "API key is invalid"),
      "email_api_key_invalid",
    ],
    ["a suspended key", said(403, "suspended_api_key", "Suspended"), "suspended_api_key"],
    ["a key without permission", said(403, "invalid_permission", "No"), "invalid_permission"],
  ])("knows %s", async (_what, scripted, code) => {
    expect(await check({}, scripted)).toEqual({ status: "refused", code });
  });
  test.each<[string, Scripted, string]>([
    ["a server error", said(500, "application_error", "Oops"), "email_http_500"],
    ["a page", "not_json", "email_answer_unreadable"],
    ["silence", "hang", "email_timeout"],
    ["a dropped connection", "drop", "email_connection_lost"],
    ["a refusal of another kind", said(403, "validation_error", "1010"), "email_http_403"],
  ])("says nothing of the key after %s", async (_what, scripted, code) => {
    expect(await check({}, scripted)).toEqual({ status: "unclear", code });
  });
});
