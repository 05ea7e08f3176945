import { type CheckResult, command, fail, notChecked, pass, warn } from "../../health/result.ts";
import { stateDirectoryOf } from "../../platform/config/directories.ts";
import { linearTracker } from "../../providers/linear/client.ts";
import { STATE_URL } from "../../webhook/store/postgres/link.ts";
import { checkEncoding } from "../../webhook/store/postgres/schema.ts";
import type { Check } from "../context.ts";
import { privateResult, socketTableCheck, writableResult } from "./host.ts";
import { alertGatewayCheck, emailKeyResult } from "./senders.ts";
import { checkWithSettings, correctSecret } from "./settings.ts";
import { statusCheck } from "./status.ts";
import { WEBHOOK_UNIT_CHECK } from "./webhook-unit.ts";

const of = "webhook";
const TRACKER = {
  required: ["ISSUE_TRACKER_TOKEN", "ISSUE_TRACKER_TEAM_ID"],
  optional: ["ISSUE_TRACKER_URL"],
} as const;
/** What the webhook needs besides its settings: external services, state, units, and a service that answers. */
export const WEBHOOK_CHECKS: readonly Check[] = [
  alertGatewayCheck(of),
  checkWithSettings(
    { command: of, name: "fallback channel", service: "the e-mail provider" },
    { optional: ["ALERT_EMAIL_TO", "ALERT_EMAIL_FROM", "ALERT_EMAIL_API_KEY", "ALERT_EMAIL_API_URL"] },
    async (settings, context, signal) => {
      const { ALERT_EMAIL_TO: to, ALERT_EMAIL_FROM: from, ALERT_EMAIL_API_KEY: apiKey } = settings;
      if (apiKey === undefined) return [(to ?? from) === undefined ? NO_CHANNEL : NO_KEY];
      const names = { url: "ALERT_EMAIL_API_URL", key: "ALERT_EMAIL_API_KEY" };
      const key = { url: settings.ALERT_EMAIL_API_URL, apiKey, names, unclear: warn } as const;
      return [await emailKeyResult(key, context, signal)];
    },
  ),
  checkWithSettings(
    { command: of, name: "issue tracker", service: "the issue tracker" },
    TRACKER,
    async (settings, context, signal) => {
      const tracker = linearTracker({
        url: new URL(settings.ISSUE_TRACKER_URL),
        token: settings.ISSUE_TRACKER_TOKEN,
        teamId: settings.ISSUE_TRACKER_TEAM_ID,
        timeoutMs: context.dependencies.callLimitMs,
      });
      return [trackerResult(await tracker.checkAccess(signal))];
    },
  ),
  checkWithSettings(
    { command: of, name: "state directory", service: "the state's database" },
    { optional: ["OPSCTL_STATE_DIR", "OPSCTL_STATE_URL"] },
    async ({ OPSCTL_STATE_DIR: given, OPSCTL_STATE_URL: url }, context) => {
      if (url !== undefined) {
        // A running service may be an older program, which accepted what this one refuses.
        await checkEncoding((await context.database(url, STATE_URL)).sql);
        return [pass("the state is kept in a database that answers")];
      }
      const directory = stateDirectoryOf(given, (await context.environment(of)).env);
      return [await privateResult(of, directory)];
    },
  ),
  WEBHOOK_UNIT_CHECK,
  statusCheck(of, "the webhook"),
];

/** What the socket monitor needs, which sends as the webhook does: its gateway, its directories, a recent run. */
export const SOCKET_CHECKS: readonly Check[] = [
  alertGatewayCheck("socket-monitor"),
  socketTableCheck("socket-monitor"),
  checkWithSettings(
    { command: "socket-monitor", name: "directories" },
    { optional: ["OPSCTL_LOG_DIR", "OPSCTL_STATE_DIR"] },
    async (settings, context) => {
      const { env } = await context.environment("socket-monitor");
      const stateDir = stateDirectoryOf(settings.OPSCTL_STATE_DIR, env);
      const logDir = await writableResult("socket-monitor", settings.OPSCTL_LOG_DIR, "0750");
      return [logDir, await privateResult("socket-monitor", stateDir)];
    },
  ),
  statusCheck("socket-monitor"),
];

const NO_KEY = notChecked("PREREQUISITE_FAILED", "it needs ALERT_EMAIL_API_KEY, see configuration");
const NO_CHANNEL = warn(
  "FALLBACK_CHANNEL_MISSING",
  "no fallback channel is set up: while WhatsApp accepts nothing, nobody is notified",
  command(
    "opsctl secret set ALERT_EMAIL_API_KEY",
    "Set ALERT_EMAIL_TO and ALERT_EMAIL_FROM in webhook.env, then:",
  ),
);

function trackerResult(code: string | null): CheckResult {
  if (code === null) return pass("the tracker answers, takes the token and has the team");
  if (code === "tracker_team_missing")
    return fail(code, "the token sees no such team", "Correct ISSUE_TRACKER_TEAM_ID in webhook.env");
  if (code === "tracker_unauthorized" || code === "tracker_forbidden")
    return fail(code, "the tracker refuses the token", correctSecret("ISSUE_TRACKER_TOKEN"));
  const fix = "Check ISSUE_TRACKER_URL and the network";
  return fail(code, "the tracker does not answer as it should", fix);
}
