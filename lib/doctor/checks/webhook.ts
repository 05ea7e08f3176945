import { type Fix, inWords } from "../../platform/errors.ts";
import { ALERT_GATEWAY, gatewayAdvice } from "../../providers/evolution/advice.ts";
import { linearTracker } from "../../providers/linear/client.ts";
import { loadWebhookConfig, type WebhookConfig } from "../../webhook/config.ts";
import { readServiceHealth } from "../../webhook/http/service-health.ts";
import { freeBytes } from "../../webhook/state/sqlite/reserve/free-bytes.ts";
import { RESERVE } from "../../webhook/state/sqlite/reserve/reserve-size.ts";
import type { Check } from "../context/check.ts";
import type { CheckContext, Settings } from "../context/check-context.ts";
import { stateDatabase } from "../facts/state-database.ts";
import { isListening } from "../facts/tcp-port.ts";
import { command, fail, notChecked, pass, type Verdict, warn } from "../finding.ts";
import { privateVerdict } from "./host/directory.ts";
import { alertGatewayCheck } from "./peers/gateway.ts";
import { checkWithSettings } from "./settings/configuration.ts";
import { correctSecret, correctSetting } from "./settings/correct-setting.ts";
import { closedByUnitVerdicts } from "./webhook/closed-by-unit.ts";
import { outboxVerdicts } from "./webhook/outbox.ts";
import { secondChannelCheck } from "./webhook/second-channel.ts";
import { isStarted, JOURNAL, WEBHOOK_UNIT_CHECK } from "./webhook/webhook-unit.ts";

const of = "webhook";
const REFUSED_SENDER = command(
  'journalctl -u opsctl-webhook.service -g "A request was refused" -n 5',
  "If the platform sent it, write it the secret anew (opsctl alert-rules contact-point apply --rotate --url " +
    "https://<alert host>/webhook). Who sent it:",
);
const MIB = 1_048_576;
/** With less than half its reserve left on the disk, the service keeps alerts in the reserve. */
const LOW_BYTES = (RESERVE.rows * RESERVE.rowBytes) / 2;
const START = command("systemctl start opsctl-webhook.socket opsctl-webhook.service");

/** What the webhook needs besides its settings: its peers, its state, its units, and a service that answers. */
export const WEBHOOK_CHECKS: readonly Check[] = [
  alertGatewayCheck(of, settingsOf),
  secondChannelCheck(of, settingsOf),
  checkWithSettings({ command: of, name: "issue tracker" }, settingsOf, async (settings, context, signal) => {
    const { url, token, teamId } = settings.tracker;
    const tracker = linearTracker({
      url: new URL(url),
      token,
      teamId,
      timeoutMs: context.dependencies.callLimitMs,
    });
    return [await trackerVerdict(context, await tracker.checkAccess(signal))];
  }),
  checkWithSettings(
    { command: of, name: "state directory" },
    settingsOf,
    async (settings, context, signal) => {
      const { state } = settings;
      if ("url" in state) {
        await stateDatabase(context, state.url);
        return [pass("the state is kept in a database that answers, no directory is needed")];
      }
      return [
        await privateVerdict(of, context, state.directory),
        ...(await closedByUnitVerdicts(context.dependencies, state.directory, signal)),
        ...spaceVerdicts(state.directory),
      ];
    },
  ),
  checkWithSettings({ command: of, name: "outbox" }, settingsOf, async (settings, context, signal) => {
    return await outboxVerdicts(context, settings.state, signal);
  }),
  WEBHOOK_UNIT_CHECK,
  {
    command: of,
    name: "service",
    async run(context, signal) {
      const { dependencies } = context;
      const { adminUrl, callLimitMs: limitMs } = dependencies;
      const health = await readServiceHealth({ adminUrl, limitMs }, signal);
      if (health === null) {
        const next = (await isStarted(dependencies, signal)) ? JOURNAL : START;
        return [warn("WEBHOOK_NOT_ANSWERING", `the service does not answer on ${adminUrl.host}`, next)];
      }
      const ready = health.isReady
        ? pass("the service is ready")
        : fail("WEBHOOK_NOT_READY", "the service runs and cannot accept alerts", JOURNAL);
      return [
        ready,
        ...(await holdVerdicts(context, health.holds)),
        ...secretVerdicts(health.secretRefusedAt),
      ];
    },
  },
  {
    command: of,
    name: "port",
    async run({ dependencies }) {
      const listens = await isListening(dependencies.webhookPort, dependencies.paths.procNet);
      if (listens === null)
        return [notChecked("SOCKETS_UNREADABLE", "the kernel's table of sockets cannot be read")];
      if (listens) return [pass(`something listens on port ${dependencies.webhookPort}`)];
      return [warn("PORT_CLOSED", `nothing listens on port ${dependencies.webhookPort}`, START)];
    },
  },
];

/** Whether the service will soon need the reserve that it keeps for a full disk. */
function spaceVerdicts(directory: string): Verdict[] {
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

/** A stranger's post looks the same, so it is a warning. */
function secretVerdicts(refusedAt: string | null): Verdict[] {
  if (refusedAt === null) return [];
  return [
    warn(
      "WEBHOOK_SECRET_REFUSED",
      `the last post from elsewhere, at ${refusedAt}, was refused: it has another secret than the service`,
      REFUSED_SENDER,
    ),
  ];
}

function settingsOf(context: CheckContext): Promise<Settings<WebhookConfig>> {
  return context.settings(of, "all", loadWebhookConfig);
}

async function trackerVerdict(context: CheckContext, code: string | null): Promise<Verdict> {
  switch (code) {
    case null:
      return pass("the tracker answers, takes the token and has the team");
    case "tracker_team_missing":
      return fail(
        code,
        `${code}: the token sees no such team`,
        await correctSetting(context, of, "ISSUE_TRACKER_TEAM_ID"),
      );
    case "tracker_unauthorized":
    case "tracker_forbidden":
      return fail(
        code,
        `${code}: the tracker refuses the token`,
        await correctSecret(context, of, "ISSUE_TRACKER_TOKEN"),
      );
    default:
      return fail(
        code,
        `${code}: the tracker does not answer as it should`,
        "Check ISSUE_TRACKER_TOKEN, ISSUE_TRACKER_URL and the network",
      );
  }
}

/** The fix for held messages: a new key needs a reload; the service itself notices a repaired gateway. */
async function messageFix(context: CheckContext, code: string): Promise<Fix> {
  const advice = gatewayAdvice({ code }, ALERT_GATEWAY);
  if (advice === null || code === "gateway_unauthorized")
    return await correctSecret(context, of, "MESSAGING_API_KEY");
  return inWords(`${advice.fix}; the service resumes within a minute`) as Fix;
}

async function holdVerdicts(
  context: CheckContext,
  { message, issue }: { message: string | null; issue: string | null },
): Promise<Verdict[]> {
  const held = (what: string, code: string, fix: Fix) =>
    fail(code, `${code}: the service holds its ${what} until the peer takes them again`, fix);
  const token = () => correctSecret(context, of, "ISSUE_TRACKER_TOKEN");
  return [
    ...(message === null ? [] : [held("messages", message, await messageFix(context, message))]),
    ...(issue === null ? [] : [held("issues", issue, await token())]),
  ];
}
