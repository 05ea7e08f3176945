import { checkResendKey, type KeyState } from "../../providers/resend/key.ts";
import type { WebhookConfig } from "../../webhook/config.ts";
import type { Check } from "../context/check.ts";
import type { CheckContext, Settings } from "../context/check-context.ts";
import { type CommandName, fail, pass, type Verdict, warn } from "../finding.ts";
import { withoutSettings } from "./configuration.ts";

/** Whether alerts have a second way out, and a silence of the service would be noticed; nothing is sent or pinged. */
export function secondChannelCheck(
  command: CommandName,
  settings: (context: CheckContext) => Promise<Settings<Pick<WebhookConfig, "watch">>>,
): Check {
  return {
    command,
    name: "second channel",
    async run(context, signal) {
      const found = await settings(context);
      if (found.status !== "ok") return withoutSettings(command);
      const { secondChannel, pingUrl } = found.value.watch;
      if (secondChannel === null) return [warn(NONE, MEND), pingVerdict(pingUrl !== null)];
      const key = await checkResendKey({
        baseUrl: new URL(secondChannel.apiUrl),
        apiKey: secondChannel.apiKey,
        timeoutMs: context.dependencies.limitMs,
        signal,
      });
      return [keyVerdict(key), pingVerdict(pingUrl !== null)];
    },
  };
}

const NONE = "no second channel is set up: while WhatsApp takes nothing, no person is told";
const MEND = "Set ALERT_EMAIL_TO, ALERT_EMAIL_FROM and ALERT_EMAIL_API_KEY";

function pingVerdict(isSet: boolean): Verdict {
  return pass(
    isSet
      ? "a check elsewhere is pinged"
      : "no check elsewhere is pinged: nobody notices a host that is gone (OPSCTL_PING_URL)",
  );
}

function keyVerdict(key: KeyState): Verdict {
  switch (key.status) {
    case "accepted":
      return pass("the e-mail provider takes the key of the second channel");
    case "refused":
      return fail(
        `${key.code}: the e-mail provider refuses the key of the second channel`,
        "Correct ALERT_EMAIL_API_KEY",
      );
    case "unclear":
      return warn(
        `${key.code}: the e-mail provider does not say whether it takes the key of the second channel`,
        "Check ALERT_EMAIL_API_URL and the network",
      );
  }
}
