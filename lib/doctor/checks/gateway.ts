import type { Secret } from "../../platform/secrets/secret.ts";
import { ALERT_GATEWAY, type GatewayNames, gatewayAdvice } from "../../providers/evolution/advice.ts";
import { type EvolutionClient, evolutionClient } from "../../providers/evolution/client.ts";
import { resolveInstance } from "../../providers/evolution/instance.ts";
import type { WebhookConfig } from "../../webhook/config.ts";
import type { Check } from "../context/check.ts";
import type { CheckContext, Settings } from "../context/check-context.ts";
import { type CommandName, fail, pass, type Verdict } from "../finding.ts";
import { withoutSettings } from "./configuration.ts";

/** A client whose calls end within the limit of a check. */
export function gatewayOf(context: CheckContext, apiUrl: string, adminKey: Secret): EvolutionClient {
  return evolutionClient({ baseUrl: new URL(apiUrl), adminKey, timeoutMs: context.dependencies.limitMs });
}

/** Whether the gateway that sends alerts answers, accepts the key, and has the instance open. */
export function alertGatewayCheck(
  command: CommandName,
  settings: (context: CheckContext) => Promise<Settings<Pick<WebhookConfig, "messaging">>>,
): Check {
  return {
    command,
    name: "messaging gateway",
    async run(context, signal) {
      const found = await settings(context);
      if (found.status !== "ok") return withoutSettings(command);
      const { apiUrl, apiKey, instance } = found.value.messaging;
      const gateway = gatewayOf(context, apiUrl, apiKey);
      const key = await keyVerdict(gateway, ALERT_GATEWAY, signal);
      if (key.status === "fail") return [key];
      return [key, await instanceVerdict(gateway, instance, signal)];
    },
  };
}

/** Whether the gateway answers and accepts the key: lists its instances. */
export async function keyVerdict(
  gateway: Pick<EvolutionClient, "listInstances">,
  names: GatewayNames,
  signal: AbortSignal,
): Promise<Verdict> {
  const listed = await gateway.listInstances(signal);
  if (listed.status === "ok")
    return pass(`the gateway answers and takes the key, which sees ${count(listed.names.length)}`);
  return gatewayFailure(listed, names);
}

/** The verdict for a code of the gateway. */
export function gatewayFailure(
  fault: { code: string; cause?: string | undefined },
  names: GatewayNames,
): Verdict {
  const advice = gatewayAdvice(fault, names);
  if (advice !== null) return fail(`${fault.code}: ${advice.problem}`, advice.mend);
  return fail(
    `${fault.code}: the gateway does not answer as it should`,
    `Check ${names.url} and that the gateway runs`,
  );
}

async function instanceVerdict(
  gateway: EvolutionClient,
  configured: string | null,
  signal: AbortSignal,
): Promise<Verdict> {
  const instance = await resolveInstance({ gateway, configured })(signal);
  if (instance.status !== "found") return gatewayFailure(instance, ALERT_GATEWAY);
  const state = await gateway.checkInstance(instance.name, signal);
  return state.status === "open"
    ? pass("the instance that sends is open")
    : gatewayFailure(state, ALERT_GATEWAY);
}

function count(instances: number): string {
  return instances === 1 ? "1 instance" : `${instances} instances`;
}
