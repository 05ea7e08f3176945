import { DEFAULT_POINT } from "../../standins/grafana.ts";
import type { Json } from "../../standins/grafana-rule.ts";
import type { Host } from "../support/host.ts";
import type { Faults } from "./fault.ts";

/** Lets Grafana's policies decide who receives every rule. */
function leaveToPolicies({ monitoring }: Host, policies: object): void {
  for (const rule of monitoring.rules.values()) rule.notification_settings = null;
  monitoring.policies = { ...policies };
}

/** Faults that doctor finds of the rules' receivers. */
export const RECEIVERS: Faults = {
  "no rule of ours is in Grafana": {
    finds: ["alert-rules", "rules", "fail", "RULES_MISSING"],
    spoil: ({ monitoring }) => monitoring.rules.clear(),
  },
  "no rule of ours is in Grafana, and no setting names a receiver": {
    finds: ["alert-rules", "rules", "fail", "RULES_MISSING"],
    about: "--receiver <contact point>",
    spoil: (host) => {
      host.setting("alert-rules", "MONITORING_RECEIVER", null);
      host.monitoring.rules.clear();
    },
  },
  "some of the rules are missing": {
    finds: ["alert-rules", "rules", "warn", "RULES_MISSING"],
    about: "VPS Load Average Alto, SSH Brute Force ->",
    spoil: ({ monitoring }) => {
      for (const uid of ["opsctl-vps-load", "opsctl-ssh-brute-force", "opsctl-tcp-sockets"])
        monitoring.rules.delete(uid);
    },
  },
  "the rules reach only the default e-mail": {
    finds: ["alert-rules", "rules", "fail", "RULES_DEFAULT_EMAIL_ONLY"],
    spoil: (host) => leaveToPolicies(host, { receiver: DEFAULT_POINT.name }),
  },
  "the rules on the webhook itself reach only the default e-mail": {
    finds: ["alert-rules", "rules", "fail", "RULES_DEFAULT_EMAIL_ONLY"],
    about: "--fallback-receiver",
    spoil: ({ monitoring }) => {
      for (const { labels, notification_settings: settings } of monitoring.rules.values())
        if ((labels as Json).via === "other") (settings as Json).receiver = DEFAULT_POINT.name;
    },
  },
  "a policy routes to the default e-mail before the webhook": {
    finds: ["alert-rules", "rules", "fail", "RULES_DEFAULT_EMAIL_ONLY"],
    about: "SSH Brute Force, Log de segurança parado ->",
    spoil: (host) =>
      leaveToPolicies(host, {
        receiver: DEFAULT_POINT.name,
        routes: [{ receiver: "opsctl-webhook", object_matchers: [["ruleGroup", "=", "vps-infra"]] }],
      }),
  },
  "the receiver of a rule is gone": {
    finds: ["alert-rules", "rules", "fail", "RULES_WITHOUT_RECEIVER"],
    spoil: ({ monitoring }) => {
      const at = monitoring.points.findIndex(({ name }) => name === "plantão");
      monitoring.points.splice(at, 1);
    },
  },
  "the rules on the webhook reach the webhook alone": {
    finds: ["alert-rules", "rules", "warn", "RULES_SHARE_RECEIVER"],
    spoil: ({ monitoring }) => {
      for (const rule of monitoring.rules.values())
        rule.notification_settings = { receiver: "opsctl-webhook" };
    },
  },
  "a policy cannot be judged": {
    finds: ["alert-rules", "rules", "warn", "POLICY_UNKNOWN"],
    spoil: (host) =>
      leaveToPolicies(host, {
        receiver: "opsctl-webhook",
        routes: [{ receiver: "plantão", object_matchers: [["severity", "=~", "(?i)critical"]] }],
      }),
  },
  "the token may not read contact points": {
    finds: ["alert-rules", "rules", "warn", "TOKEN_LACKS_PERMISSION"],
    spoil: ({ monitoring }) => {
      monitoring.routes.points.script = () => ({ status: 403, json: { message: "Access denied" } });
    },
  },
  "the webhook's contact point is missing": {
    finds: ["alert-rules", "rules", "fail", "MONITORING_RECEIVER_NOT_FOUND"],
    spoil: (host) => host.setting("alert-rules", "MONITORING_RECEIVER", "outro"),
  },
  "the webhook's contact point leaves something out, and shows no secret": {
    finds: ["alert-rules", "rules", "fail", "CONTACT_POINT_DIFFERS"],
    about:
      "disableResolveMessage, settings.maxAlerts, settings.payload, settings.authorization_credentials ->",
    spoil: ({ monitoring }) => {
      const point = monitoring.points.find(({ name }) => name === "opsctl-webhook")!;
      point.disableResolveMessage = true;
      const more = { maxAlerts: 100, payload: { template: "x" }, authorization_credentials: "" };
      Object.assign(point.settings, more);
    },
  },
  "the contact point that the rules name leaves something out, where no setting names it": {
    finds: ["alert-rules", "rules", "fail", "CONTACT_POINT_DIFFERS"],
    spoil: (host) => {
      host.setting("alert-rules", "MONITORING_RECEIVER", null);
      host.monitoring.points.find(({ name }) => name === "opsctl-webhook")!.disableResolveMessage = true;
    },
  },
  "the contact point that the policies choose has no secret, where no setting and no rule names it": {
    finds: ["alert-rules", "rules", "fail", "CONTACT_POINT_DIFFERS"],
    about: "settings.authorization_credentials",
    spoil: (host) => {
      host.setting("alert-rules", "MONITORING_RECEIVER", null);
      leaveToPolicies(host, { receiver: "opsctl-webhook" });
      const point = host.monitoring.points.find(({ name }) => name === "opsctl-webhook")!;
      point.settings.authorization_credentials = "";
    },
  },
  "the notification policies cannot be read": {
    finds: ["alert-rules", "rules", "fail", "MONITORING_HTTP_500"],
    spoil: ({ monitoring }) => {
      monitoring.routes.policies.script = () => ({ status: 500, json: { message: "boom" } });
    },
  },
};
