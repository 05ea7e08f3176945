import { loadAlertRulesConfig } from "../../alert-rules/config.ts";
import { loadLookUpConfig } from "../../deliveries/config.ts";
import { loadWholeCollectConfig } from "../../metrics/sources.ts";
import { loadSettings } from "../../platform/config/load.ts";
import { SERVICE_ACCOUNT } from "../../platform/privileges.ts";
import type { Environment } from "../../platform/secrets/adapter.ts";
import { loadSocketMonitorConfig } from "../../sockets/config.ts";
import { loadWebhookConfig } from "../../webhook/config.ts";
import { loadWeeklyConfig } from "../../weekly/config.ts";
import { type Check, COMMAND_FACTS, type CommandName, type DoctorDependencies } from "../context.ts";
import { RULES_CHECKS } from "./alert-rules.ts";
import { COLLECT_CHECKS } from "./collect-metrics.ts";
import { databaseCheck, MIGRATIONS_CHECK, ownerLogin, readinessCheck } from "./database.ts";
import { accountCheck, cronChecks, HOST_ZONE_CHECK } from "./host.ts";
import { configurationCheck, environmentFileCheck, secretsCheck } from "./settings.ts";
import { SOCKET_CHECKS, WEBHOOK_CHECKS } from "./webhook.ts";
import { WEEKLY_CHECKS } from "./weekly.ts";

/** How each command loads all of its settings, and what it needs besides. */
const NEEDS: Record<
  CommandName,
  [load: (env: Environment, dependencies: DoctorDependencies) => Promise<unknown>, checks: readonly Check[]]
> = {
  weekly: [
    (env) => loadWeeklyConfig(env, { skipWhatsapp: false, skipEmail: false, isProof: true }),
    [
      databaseCheck("weekly"),
      readinessCheck("weekly"),
      ...WEEKLY_CHECKS,
      ...cronChecks("weekly"),
      HOST_ZONE_CHECK,
    ],
  ],
  webhook: [loadWebhookConfig, WEBHOOK_CHECKS],
  "collect-metrics": [loadWholeCollectConfig, [...COLLECT_CHECKS, ...cronChecks("collect-metrics")]],
  "socket-monitor": [loadSocketMonitorConfig, [...SOCKET_CHECKS, ...cronChecks("socket-monitor")]],
  "alert-rules": [loadAlertRulesConfig, RULES_CHECKS],
  migrate: [ownerLogin, [databaseCheck("migrate"), MIGRATIONS_CHECK]],
  reports: [
    (env) => loadSettings("reports", { required: ["DATABASE_URL"] }, env),
    [databaseCheck("reports"), readinessCheck("reports")],
  ],
  deliveries: [loadLookUpConfig, [databaseCheck("deliveries"), readinessCheck("deliveries")]],
};

/** The checks of these commands, in the order in which they are shown. */
export function checksFor(commands: readonly CommandName[]): Check[] {
  return commands.flatMap((command) => {
    const [load, checks] = NEEDS[command];
    const { account } = COMMAND_FACTS[command];
    const own: Check[] = [
      configurationCheck(command, load),
      ...(account === SERVICE_ACCOUNT ? [accountCheck(command)] : []),
      environmentFileCheck(command),
      secretsCheck(command),
    ];
    // The settings and secrets of a command of root's are closed to the account.
    return [
      ...own.map((check): Check => (account === "root" ? { ...check, runsAsRoot: true } : check)),
      ...checks,
    ];
  });
}
