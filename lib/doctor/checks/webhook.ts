import { stateDirectoryOf } from "../../platform/config/directories.ts";
import { linearTracker } from "../../providers/linear/client.ts";
import { STATE_URL } from "../../webhook/state/postgres/opener.ts";
import { checkEncoding } from "../../webhook/state/postgres/schema.ts";
import type { Check } from "../context.ts";
import { type CheckResult, command, fail, notChecked, notSetUp, pass, warn } from "../finding.ts";
import { privateResult } from "./host.ts";
import { alertGatewayCheck, emailKeyResult } from "./senders.ts";
import { checkWithSettings, correctSecret } from "./settings.ts";
import { statusCheck } from "./status.ts";
import { WEBHOOK_UNIT_CHECK } from "./webhook-unit.ts";

const of = "webhook";
const TRACKER = {
  required: ["ISSUE_TRACKER_TOKEN", "ISSUE_TRACKER_TEAM_ID"],
  optional: ["ISSUE_TRACKER_URL"],
} as const;
const SECOND_CHANNEL = {
  optional: [
    ...(["ALERT_EMAIL_TO", "ALERT_EMAIL_FROM", "ALERT_EMAIL_API_KEY"] as const),
    ...(["ALERT_EMAIL_API_URL", "OPSCTL_PING_URL"] as const),
  ],
} as const;

/** What the webhook needs besides its settings: external services, state, units, and a service that answers. */
export const WEBHOOK_CHECKS: readonly Check[] = [
  alertGatewayCheck(of),
  checkWithSettings(
    { command: of, name: "second channel", service: "the e-mail provider" },
    SECOND_CHANNEL,
    async (settings, context, signal) => {
      const { file } = await context.environment(of);
      const ping = settings.OPSCTL_PING_URL === undefined ? noPing(file.path) : PINGED;
      const { ALERT_EMAIL_TO: to, ALERT_EMAIL_FROM: from, ALERT_EMAIL_API_KEY: apiKey } = settings;
      if (apiKey === undefined) return [(to ?? from) === undefined ? noChannel(file.path) : NO_KEY, ping];
      const names = { url: "ALERT_EMAIL_API_URL", key: "ALERT_EMAIL_API_KEY" };
      const key = { url: settings.ALERT_EMAIL_API_URL, apiKey, names, unclear: warn } as const;
      return [await emailKeyResult(key, context, signal), ping];
    },
  ),
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
  statusCheck(of),
];

const NO_KEY = notChecked("PREREQUISITE_FAILED", "it needs ALERT_EMAIL_API_KEY, see configuration");
const PINGED = pass("a check elsewhere is pinged");

function noChannel(path: string): CheckResult {
  return warn(
    "FALLBACK_CHANNEL_MISSING",
    "no fallback channel is set up: while WhatsApp accepts nothing, nobody is notified",
    command(
      "opsctl secret set ALERT_EMAIL_API_KEY",
      `Set ALERT_EMAIL_TO and ALERT_EMAIL_FROM in ${path}, then:`,
    ),
  );
}

function noPing(path: string): CheckResult {
  return notSetUp(
    "a ping, by whose absence a check elsewhere notices that this host is gone",
    command(
      "systemctl reload opsctl-webhook.service",
      `Set OPSCTL_PING_URL in ${path} to the address of a check, then:`,
    ),
  );
}

function trackerResult(code: string | null): CheckResult {
  switch (code) {
    case null:
      return pass("the tracker answers, takes the token and has the team");
    case "tracker_team_missing":
      return fail(code, "the token sees no such team", "Correct ISSUE_TRACKER_TEAM_ID in webhook.env");
    case "tracker_unauthorized":
    case "tracker_forbidden":
      return fail(code, "the tracker refuses the token", correctSecret("ISSUE_TRACKER_TOKEN"));
    default:
      return fail(
        code,
        "the tracker does not answer as it should",
        "Check ISSUE_TRACKER_URL and the network",
      );
  }
}
