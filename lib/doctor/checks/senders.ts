import { type CheckResult, fail, pass, type warn } from "../../health/result.ts";
import type { Secret } from "../../platform/secrets/secret.ts";
import {
  ALERT_GATEWAY,
  GATEWAY_KEY_REFUSED,
  type GatewayNames,
  gatewayAdvice,
} from "../../providers/evolution/advice.ts";
import { type EvolutionClient, evolutionClient } from "../../providers/evolution/client.ts";
import { resolveInstance } from "../../providers/evolution/instance.ts";
import { checkResendKey } from "../../providers/resend/key.ts";
import type { Check, CheckContext } from "../context.ts";
import { checkWithSettings, correctSecret } from "./settings.ts";

/** Whether the gateway that sends alerts answers, accepts the key, and has the instance open. */
export function alertGatewayCheck(of: "webhook" | "socket-monitor"): Check {
  const check = { command: of, name: "messaging gateway", service: "the messaging gateway" };
  const wanted = {
    required: ["MESSAGING_API_URL", "MESSAGING_API_KEY"],
    optional: ["MESSAGING_INSTANCE"],
  } as const;
  return checkWithSettings(check, wanted, async (settings, context, signal) => {
    const { MESSAGING_API_URL: url, MESSAGING_API_KEY: adminKey } = settings;
    const timeoutMs = context.dependencies.callLimitMs;
    const gateway = evolutionClient({ baseUrl: new URL(url), adminKey, timeoutMs });
    const key = await keyResult(gateway, ALERT_GATEWAY, signal);
    if (key.status === "fail") return [key];
    const configured = settings.MESSAGING_INSTANCE ?? null;
    const instance = await resolveInstance({ gateway, configured })(signal);
    if (instance.status !== "found") return [key, gatewayFailure(instance, ALERT_GATEWAY)];
    const state = await gateway.checkInstance(instance.name, signal);
    if (state.status !== "open") return [key, gatewayFailure(state, ALERT_GATEWAY)];
    return [key, pass("the instance that sends is open")];
  });
}

/** Whether the gateway answers and accepts the key: lists its instances. */
export async function keyResult(
  gateway: Pick<EvolutionClient, "listInstances">,
  names: GatewayNames,
  signal: AbortSignal,
): Promise<CheckResult> {
  const listed = await gateway.listInstances(signal);
  if (listed.status !== "ok") return gatewayFailure(listed, names);
  const count = listed.names.length === 1 ? "1 instance" : `${listed.names.length} instances`;
  return pass(`the gateway answers and takes the key, which sees ${count}`);
}

/** The result for a code of the gateway. */
export function gatewayFailure(
  fault: { code: string; cause?: string | undefined },
  names: GatewayNames,
): CheckResult {
  const advice = gatewayAdvice(fault, names);
  if (advice === null) {
    const fix = `Check ${names.url} and that the gateway runs`;
    return fail(fault.code, "the gateway does not answer as it should", fix);
  }
  const isKey = (fault.cause ?? fault.code) === GATEWAY_KEY_REFUSED;
  return fail(fault.code, advice.problem, isKey ? correctSecret(names.key) : advice.fix);
}

/** A key of the e-mail provider, by the names of its variables; `unclear` judges an answer that says nothing of it. */
export type EmailKey = {
  url: string;
  apiKey: Secret;
  names: { url: string; key: string };
  unclear: typeof fail | typeof warn;
};

/** Whether the e-mail provider answers and accepts a key; nothing is sent. */
export async function emailKeyResult(
  { url, apiKey, names, unclear }: EmailKey,
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
  return fail(state.code, "the e-mail provider rejects the key", correctSecret(names.key));
}
