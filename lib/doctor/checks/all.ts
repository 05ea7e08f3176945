import { loadAlertRulesConfig } from "../../alert-rules/config.ts";
import { loadLookUpConfig } from "../../deliveries/config.ts";
import { loadWholeCollectConfig } from "../../metrics/config.ts";
import { loadSettings } from "../../platform/config/load.ts";
import { SERVICE_ACCOUNT } from "../../platform/privileges.ts";
import type { Environment } from "../../platform/secrets/adapter.ts";
import { loadSocketMonitorConfig } from "../../sockets/config.ts";
import { loadWebhookConfig } from "../../webhook/config.ts";
import { loadWeeklyConfig } from "../../weekly/config.ts";
import type { Check } from "../context/check.ts";
import { COMMAND_FACTS } from "../context/command-facts.ts";
import type { DoctorDependencies } from "../context/dependencies.ts";
import { ownerLogin } from "../context/roots-login.ts";
import type { CommandName } from "../finding.ts";
import { RULES_CHECKS } from "./alert-rules.ts";
import { COLLECT_CHECKS } from "./collect-metrics.ts";
import { accountCheck, cronChecks, hostZoneCheck } from "./host/schedule.ts";
import { databaseCheck, migrationsCheck, readinessCheck } from "./services/database.ts";
import { configurationCheck } from "./settings/configuration.ts";
import { environmentFileCheck } from "./settings/environment-file.ts";
import { secretsCheck } from "./settings/secrets.ts";
import { SOCKET_CHECKS } from "./socket-monitor.ts";
import { WEBHOOK_CHECKS } from "./webhook.ts";
import { WEEKLY_CHECKS } from "./weekly.ts";

/** How each command loads all of its settings. */
const LOAD: Record<CommandName, (env: Environment, dependencies: DoctorDependencies) => Promise<unknown>> = {
  weekly: (env) => loadWeeklyConfig(env, { skipWhatsapp: false, skipEmail: false, isProof: true }),
  webhook: loadWebhookConfig,
  "collect-metrics": loadWholeCollectConfig,
  "socket-monitor": loadSocketMonitorConfig,
  "alert-rules": loadAlertRulesConfig,
  migrate: ownerLogin,
  reports: (env) => loadSettings("reports", { required: ["DATABASE_URL"] }, env),
  deliveries: loadLookUpConfig,
};

const NEEDS: Record<CommandName, readonly Check[]> = {
  weekly: [
    databaseCheck("weekly"),
    readinessCheck("weekly"),
    ...WEEKLY_CHECKS,
    ...cronChecks("weekly"),
    hostZoneCheck("weekly"),
  ],
  webhook: WEBHOOK_CHECKS,
  "collect-metrics": [...COLLECT_CHECKS, ...cronChecks("collect-metrics")],
  "socket-monitor": [...SOCKET_CHECKS, ...cronChecks("socket-monitor")],
  "alert-rules": RULES_CHECKS,
  migrate: [databaseCheck("migrate"), migrationsCheck("migrate")],
  reports: [databaseCheck("reports"), readinessCheck("reports")],
  deliveries: [databaseCheck("deliveries"), readinessCheck("deliveries")],
};

/** The checks of these commands, in the order in which they are shown. */
export function checksFor(commands: readonly CommandName[]): Check[] {
  return commands.flatMap(checksOf);
}

function checksOf(command: CommandName): Check[] {
  const { account } = COMMAND_FACTS[command];
  const own = [
    configurationCheck(command, LOAD[command]),
    environmentFileCheck(command),
    ...(account === SERVICE_ACCOUNT ? [accountCheck(command)] : []),
    secretsCheck(command),
  ];
  // The settings and secrets of a command of root's are closed to the account.
  const readable = account === "root" ? own.map((check): Check => ({ ...check, runsAsRoot: true })) : own;
  return [...readable, ...NEEDS[command]];
}
