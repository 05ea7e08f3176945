import { describe } from "bun:test";
import { DEFAULT_POINT } from "../standins/grafana.ts";
import type { Json } from "../standins/grafana-rule.ts";
import { testFaults } from "./support/fault.ts";
import type { Host } from "./support/host.ts";

const CHECK = { command: "alert-rules", check: "receivers" } as const;
const POINT = { command: "alert-rules", check: "contact point" } as const;
const ASKS_FOR_NAME = /^opsctl alert-rules apply --with-extras --receiver <contact point>$/;

/** Lets the platform's policies decide who receives every rule. */
function leaveToPolicies({ monitoring }: Host, policies: object): void {
  for (const rule of monitoring.rules.values()) rule.notification_settings = null;
  monitoring.policies = { ...policies };
}

describe("runDoctor() finds of the rules' receivers that", () => {
  testFaults({
    "no rule of ours is on the platform": {
      ...{ ...CHECK, status: "fail" },
      reason: "none of opsctl's rules is on the platform, so nothing alerts",
      mend: /^opsctl alert-rules apply --with-extras$/,
      spoil: ({ monitoring }) => monitoring.rules.clear(),
    },
    "no rule of ours is on the platform, and no setting names who is told": {
      ...{ ...CHECK, status: "fail" },
      reason: "none of opsctl's rules is on the platform, so nothing alerts",
      mend: ASKS_FOR_NAME,
      spoil: (host) => {
        host.setting("alert-rules", "MONITORING_RECEIVER", null);
        host.monitoring.rules.clear();
      },
    },
    "some of the rules are missing": {
      ...{ ...CHECK, status: "warn" },
      reason: /^not on the platform: VPS Load Average Alto, SSH Brute Force$/,
      mend: /^opsctl alert-rules apply --with-extras$/,
      spoil: ({ monitoring }) => {
        for (const uid of ["opsctl-vps-load", "opsctl-ssh-brute-force", "opsctl-tcp-sockets"])
          monitoring.rules.delete(uid);
      },
    },
    "only the default e-mail is told": {
      ...{ ...CHECK, status: "fail" },
      reason: /^only the platform's default e-mail is told by VPS Load Average Alto, .*, .* and 16 more$/,
      mend: /^opsctl alert-rules contact-point apply .*, then opsctl alert-rules apply --with-extras$/,
      spoil: (host) => leaveToPolicies(host, { receiver: DEFAULT_POINT.name }),
    },
    "only the default e-mail is told of the webhook itself": {
      ...{ ...CHECK, status: "fail" },
      reason: /^only the platform's default e-mail is told by Webhook de alertas parado, .*, .* and 2 more$/,
      mend: /^On the platform, make a contact point .* --fallback-receiver <that contact point>$/,
      spoil: ({ monitoring }) => {
        for (const { labels, notification_settings: settings } of monitoring.rules.values())
          if ((labels as Json).via === "other") (settings as Json).receiver = DEFAULT_POINT.name;
      },
    },
    "a policy tells the default e-mail before the webhook": {
      ...{ ...CHECK, status: "fail" },
      reason: /^only the platform's default e-mail is told by SSH Brute Force, Log de segurança parado$/,
      spoil: (host) =>
        leaveToPolicies(host, {
          receiver: DEFAULT_POINT.name,
          routes: [{ receiver: "opsctl-webhook", object_matchers: [["ruleGroup", "=", "vps-infra"]] }],
        }),
    },
    "the receiver of a rule is gone": {
      ...{ ...CHECK, status: "fail" },
      reason: /^nobody is told by Webhook de alertas parado, .*, .* and 2 more$/,
      mend: /--fallback-receiver <that contact point>$/,
      spoil: ({ monitoring }) => {
        const at = monitoring.points.findIndex(({ name }) => name === "plantão");
        monitoring.points.splice(at, 1);
      },
    },
    "the rules on the webhook reach the webhook alone": {
      ...{ ...CHECK, status: "warn" },
      reason:
        /^told only where all others are, although about the webhook itself: Webhook de alertas parado, /,
      mend: /--fallback-receiver <another contact point>$/,
      spoil: ({ monitoring }) => {
        for (const rule of monitoring.rules.values())
          rule.notification_settings = { receiver: "opsctl-webhook" };
      },
    },
    "a policy cannot be judged": {
      ...{ ...CHECK, status: "warn" },
      reason: /^not checked: a notification policy that cannot be judged here decides about /,
      spoil: (host) =>
        leaveToPolicies(host, {
          receiver: "opsctl-webhook",
          routes: [{ receiver: "plantão", object_matchers: [["severity", "=~", "(?i)critical"]] }],
        }),
    },
    "the token may not read contact points": {
      ...{ ...CHECK, status: "warn" },
      reason: /^not checked: the token may not read contact points, so it is not known here whom/,
      spoil: ({ monitoring }) => {
        monitoring.routes.points.script = () => ({ status: 403, json: { message: "Access denied" } });
      },
    },
    "the webhook's contact point is missing": {
      ...{ ...POINT, status: "fail" },
      reason: "the platform has no webhook named outro",
      mend: /^opsctl alert-rules contact-point apply --url https:/,
      spoil: (host) => host.setting("alert-rules", "MONITORING_RECEIVER", "outro"),
    },
    "the webhook's contact point leaves something out, and shows no secret": {
      ...{ ...POINT, status: "fail" },
      reason:
        "contact point opsctl-webhook differs: disableResolveMessage, settings.maxAlerts, settings.payload, settings.authorization_credentials",
      spoil: ({ monitoring }) => {
        const point = monitoring.points.find(({ name }) => name === "opsctl-webhook")!;
        point.disableResolveMessage = true;
        const more = { maxAlerts: 100, payload: { template: "x" }, authorization_credentials: "" };
        Object.assign(point.settings, more);
      },
    },
    "the contact point that the rules name leaves something out, where no setting names it": {
      ...{ ...POINT, status: "fail" },
      reason: "contact point opsctl-webhook differs: disableResolveMessage",
      mend: /^opsctl alert-rules contact-point apply --url https:/,
      spoil: (host) => {
        host.setting("alert-rules", "MONITORING_RECEIVER", null);
        host.monitoring.points.find(({ name }) => name === "opsctl-webhook")!.disableResolveMessage = true;
      },
    },
    "the notification policies cannot be read": {
      ...{ ...CHECK, status: "fail" },
      reason: /^monitoring_http_500: the platform does not answer as it should$/,
      spoil: ({ monitoring }) => {
        monitoring.routes.policies.script = () => ({ status: 500, json: { message: "boom" } });
      },
    },
  });
});
