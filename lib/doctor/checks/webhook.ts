import { gatewayResults, JOURNAL, NOT_ANSWERING, serviceResults } from "../../health/webhook.ts";
import { isListening } from "../../host/tcp-port.ts";
import { linearTracker } from "../../providers/linear/client.ts";
import { loadStateConfig, type StateConfig } from "../../webhook/config.ts";
import { readServiceHealth } from "../../webhook/http/service-health.ts";
import { freeBytes } from "../../webhook/state/sqlite/reserve/free-bytes.ts";
import { RESERVE } from "../../webhook/state/sqlite/reserve/reserve-size.ts";
import type { Check } from "../context/check.ts";
import type { CheckContext } from "../context/check-context.ts";
import { type CheckResult, fail, notChecked, pass, warn } from "../finding.ts";
import { privateResult } from "./host/directory.ts";
import { alertGatewayCheck } from "./services/gateway.ts";
import { checkWithSettings, withoutSettings } from "./settings/configuration.ts";
import { correctSecret, correctSetting } from "./settings/correct-setting.ts";
import { SECOND_CHANNEL_CHECK } from "./webhook/second-channel.ts";
import { ADMIN_PORT_OFF, outboxResults, stateDatabase } from "./webhook/state.ts";
import { isStarted, readOnlyResults, WEBHOOK_UNIT_CHECK } from "./webhook/unit.ts";

const of = "webhook";
const TRACKER = {
  required: ["ISSUE_TRACKER_TOKEN", "ISSUE_TRACKER_TEAM_ID"],
  optional: ["ISSUE_TRACKER_URL"],
} as const;
const MIB = 1_048_576;
/** With less than half its reserve left on the disk, the service keeps alerts in the reserve. */
const LOW_BYTES = (RESERVE.rows * RESERVE.rowBytes) / 2;

/** What the webhook needs besides its settings: external services, state, units, and a service that answers. */
export const WEBHOOK_CHECKS: readonly Check[] = [
  alertGatewayCheck(of),
  SECOND_CHANNEL_CHECK,
  checkWithSettings(
    { command: of, name: "issue tracker", service: "the issue tracker" },
    TRACKER,
    async (settings, context, signal) => {
      const tracker = linearTracker({
        url: new URL(settings.ISSUE_TRACKER_URL),
        token: settings.ISSUE_TRACKER_TOKEN,
        teamId: settings.ISSUE_TRACKER_TEAM_ID.trim(),
        timeoutMs: context.dependencies.callLimitMs,
      });
      return [await trackerResult(context, await tracker.checkAccess(signal))];
    },
  ),
  withState("state directory", null, async (state, context, signal) => {
    if ("url" in state) {
      await stateDatabase(context, state.url);
      return [pass("the state is kept in a database that answers, no directory is needed")];
    }
    return [
      await privateResult(of, context, state.directory),
      ...(await readOnlyResults(context.dependencies, state.directory, signal)),
      ...spaceResults(state.directory),
    ];
  }),
  withState("outbox", "the webhook or its state", (state, context, signal) =>
    outboxResults(context, state, signal),
  ),
  WEBHOOK_UNIT_CHECK,
  {
    command: of,
    name: "service",
    service: "the webhook",
    async run(context, signal) {
      const { dependencies } = context;
      const { adminPort } = await context.webhookPorts();
      if (adminPort === 0) return [pass(ADMIN_PORT_OFF)];
      const health = await readServiceHealth({ adminPort, limitMs: dependencies.callLimitMs }, signal);
      if (health === null)
        return [(await isStarted(dependencies, signal)) ? { ...NOT_ANSWERING, fix: JOURNAL } : NOT_ANSWERING];
      const fixes = {
        MESSAGING_API_KEY: await correctSecret(context, of, "MESSAGING_API_KEY"),
        ISSUE_TRACKER_TOKEN: await correctSecret(context, of, "ISSUE_TRACKER_TOKEN"),
      };
      return [...serviceResults(health, fixes), ...gatewayResults(health)];
    },
  },
  {
    command: of,
    name: "port",
    async run(context) {
      const { port } = await context.webhookPorts();
      const listens = await isListening(port, context.dependencies.paths.procNet);
      if (listens === null)
        return [notChecked("SOCKETS_UNREADABLE", "the kernel's table of sockets cannot be read")];
      if (listens) return [pass(`something listens on port ${port}`)];
      return [warn("PORT_CLOSED", `nothing listens on port ${port}`, NOT_ANSWERING.fix)];
    },
  },
];

/** Whether the service will soon need the reserve that it keeps for a full disk. */
function spaceResults(directory: string): CheckResult[] {
  const free = freeBytes(directory);
  if (free === null || free >= LOW_BYTES) return [];
  return [
    warn(
      "DISK_LOW",
      `the disk of ${directory} has ${Math.floor(free / MIB)} MiB left; the service lives on its reserve when it is full`,
      "Make room on it (df -h)",
    ),
  ];
}

/** A check that needs only where the state is. */
function withState(
  name: string,
  service: string | null,
  run: (state: StateConfig, context: CheckContext, signal: AbortSignal) => Promise<CheckResult[]>,
): Check {
  return {
    command: of,
    name,
    ...(service === null ? {} : { service }),
    async run(context, signal) {
      const state = await context.settings(of, loadStateConfig);
      return state.status === "ok" ? await run(state.value, context, signal) : withoutSettings(state);
    },
  };
}

async function trackerResult(context: CheckContext, code: string | null): Promise<CheckResult> {
  switch (code) {
    case null:
      return pass("the tracker answers, takes the token and has the team");
    case "tracker_team_missing":
      return fail(
        code,
        `the token sees no such team`,
        await correctSetting(context, of, "ISSUE_TRACKER_TEAM_ID"),
      );
    case "tracker_unauthorized":
    case "tracker_forbidden":
      return fail(
        code,
        `the tracker refuses the token`,
        await correctSecret(context, of, "ISSUE_TRACKER_TOKEN"),
      );
    default:
      return fail(
        code,
        `the tracker does not answer as it should`,
        "Check ISSUE_TRACKER_TOKEN, ISSUE_TRACKER_URL and the network",
      );
  }
}
