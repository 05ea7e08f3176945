import type { Secret } from "../../../platform/secrets/secret.ts";
import { checkResendKey } from "../../../providers/resend/key.ts";
import type { CheckContext } from "../../context/check-context.ts";
import { type CheckResult, type CommandName, fail, pass, type warn } from "../../finding.ts";
import { correctSecret } from "../settings/correct-setting.ts";

/** A key of the e-mail provider, by the names of its variables; `unclear` judges an answer that says nothing of it. */
export type EmailKey = {
  of: CommandName;
  url: string;
  apiKey: Secret;
  names: { url: string; key: string };
  unclear: typeof fail | typeof warn;
};

/** Whether the e-mail provider answers and accepts a key; nothing is sent. */
export async function emailKeyResult(
  { of, url, apiKey, names, unclear }: EmailKey,
  context: CheckContext,
  signal: AbortSignal,
): Promise<CheckResult> {
  const timeoutMs = context.dependencies.callLimitMs;
  const state = await checkResendKey({ baseUrl: new URL(url), apiKey, timeoutMs, signal });
  switch (state.status) {
    case "accepted":
      return pass("the e-mail provider answers and accepts the key");
    case "refused":
      return fail(
        state.code,
        "the e-mail provider rejects the key",
        await correctSecret(context, of, names.key),
      );
    case "unclear":
      return unclear(
        state.code,
        "the e-mail provider does not answer as it should",
        `Check ${names.url} and the network`,
      );
  }
}
