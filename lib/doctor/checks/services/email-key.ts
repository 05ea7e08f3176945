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
  if (state.status === "accepted") return pass("the e-mail provider answers and accepts the key");
  if (state.status === "unclear") {
    const fix = `Check ${names.url} and the network`;
    return unclear(state.code, "the e-mail provider does not answer as it should", fix);
  }
  const fix = await correctSecret(context, of, names.key);
  return fail(state.code, "the e-mail provider rejects the key", fix);
}
