import {
  ALERT_GATEWAY,
  GATEWAY_KEY_REFUSED,
  type GatewayNames,
  gatewayAdvice,
} from "../../../providers/evolution/advice.ts";
import { type EvolutionClient, evolutionClient } from "../../../providers/evolution/client.ts";
import { resolveInstance } from "../../../providers/evolution/instance.ts";
import type { Check } from "../../context/check.ts";
import type { CheckContext } from "../../context/check-context.ts";
import { type CheckResult, type CommandName, fail, pass } from "../../finding.ts";
import { checkWithSettings } from "../settings/configuration.ts";
import { correctSecret } from "../settings/correct-setting.ts";

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
    const place = { context, command: of, names: ALERT_GATEWAY };
    const key = await keyResult(gateway, place, signal);
    if (key.status === "fail") return [key];
    const configured = settings.MESSAGING_INSTANCE?.trim() ?? null;
    const instance = await resolveInstance({ gateway, configured })(signal);
    if (instance.status !== "found") return [key, await gatewayFailure(instance, place)];
    const state = await gateway.checkInstance(instance.name, signal);
    if (state.status !== "open") return [key, await gatewayFailure(state, place)];
    return [key, pass("the instance that sends is open")];
  });
}

/** Whose gateway is looked at: a command's, with the names of its variables. */
export type GatewayPlace = { context: CheckContext; command: CommandName; names: GatewayNames };

/** Whether the gateway answers and accepts the key: lists its instances. */
export async function keyResult(
  gateway: Pick<EvolutionClient, "listInstances">,
  place: GatewayPlace,
  signal: AbortSignal,
): Promise<CheckResult> {
  const listed = await gateway.listInstances(signal);
  if (listed.status !== "ok") return await gatewayFailure(listed, place);
  const count = listed.names.length === 1 ? "1 instance" : `${listed.names.length} instances`;
  return pass(`the gateway answers and takes the key, which sees ${count}`);
}

/** The result for a code of the gateway. */
export async function gatewayFailure(
  fault: { code: string; cause?: string | undefined },
  { context, command, names }: GatewayPlace,
): Promise<CheckResult> {
  const advice = gatewayAdvice(fault, names);
  if (advice === null) {
    const fix = `Check ${names.url} and that the gateway runs`;
    return fail(fault.code, "the gateway does not answer as it should", fix);
  }
  const isKey = (fault.cause ?? fault.code) === GATEWAY_KEY_REFUSED;
  const fix = isKey ? await correctSecret(context, command, names.key) : advice.fix;
  return fail(fault.code, advice.problem, fix);
}
