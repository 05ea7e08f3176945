import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { type Host, NOW_MS, setUnit, silenceWebhook } from "../support/host.ts";
import type { Fault, Faults } from "./fault.ts";

/** As systemd 252 says that it cannot filter, and others; the unit without its list, by a drop-in, and an older one. */
const SOCKET_PROPERTIES = [
  ["IPIngressBytes", "[no data]", "ADDRESS_FILTER_OFF"],
  ["IPIngressBytes", "[not set]", "ADDRESS_FILTER_OFF"],
  ["IPIngressBytes", "18446744073709551615", "ADDRESS_FILTER_OFF"],
  ["IPAddressDeny", "", "ADDRESS_FILTER_OFF"],
  ["IPAddressDeny", "192.0.2.0/24", "ADDRESS_FILTER_OFF"],
  ["IPAddressAllow", "::/0 0.0.0.0/0", "ADDRESS_FILTER_OFF"],
] as const;

/** Nothing answers at the admin port, and systemd says this of the service. */
function silent(host: Host, state: string): void {
  silenceWebhook(host);
  setUnit(host, "opsctl-webhook.service", { ActiveState: state });
}

/** Faults that doctor finds of the webhook and the socket monitor. */
export const WEBHOOK: Faults = {
  "the shared state would not be opened any more, although the old service still runs": {
    finds: ["webhook", "state directory", "fail", "DATABASE_UNREACHABLE"],
    about: "unless OPSCTL_STATE_URL says otherwise",
    spoil: (host) => host.put("secrets/OPSCTL_STATE_URL", host.db.url.replace("127.0.0.1", "0.0.0.0")),
  },
  "the environment file is open to others": {
    finds: ["webhook", "environment file", "fail", "SECRET_FILE_EXPOSED"],
    spoil: (host) => host.put("etc/webhook.env", "", 0o644),
  },
  "nothing of an environment file that cannot be read is called missing": {
    finds: ["webhook", "configuration", "warn", "PREREQUISITE_FAILED"],
    about: "see environment file",
    spoil: (host) => {
      rmSync(host.path("etc/webhook.env"));
      mkdirSync(host.path("etc/webhook.env"));
    },
  },
  "a setting that may be in a line that cannot be read is not called missing": {
    finds: ["webhook", "configuration", "warn", "PREREQUISITE_FAILED"],
    about: "see environment file",
    spoil: (host) => host.put("etc/webhook.env", "MESSAGING_PHONE 5511987654321\n", 0o600),
  },
  "a setting of the socket monitor may be in such a line of the webhook's file": {
    finds: ["socket-monitor", "configuration", "fail", "ENV_FILE_INVALID"],
    about: "etc/webhook.env",
    spoil: (host) => {
      host.put("etc/webhook.env", "MESSAGING_PHONE 5511987654321\n", 0o600);
      host.setting("socket-monitor", "OPSCTL_WEBHOOK_ENV_FILE", host.path("etc/webhook.env"));
    },
  },
  "the key of the fallback channel is refused": {
    finds: ["webhook", "fallback channel", "fail", "email_api_key_invalid"],
    about: "Correct ALERT_EMAIL_API_KEY",
    spoil: (host) => setFallback(host, "canary-wrong-key"),
  },
  "half a fallback channel is set up": {
    finds: ["webhook", "configuration", "fail", "CONFIG_INVALID"],
    about: "ALERT_EMAIL_FROM is missing",
    spoil: (host) => host.setting("webhook", "ALERT_EMAIL_TO", "ops@client.example"),
  },
  "there is no fallback channel": {
    finds: ["webhook", "fallback channel", "warn", "FALLBACK_CHANNEL_MISSING"],
    spoil() {},
  },
  "a unit still hands the service its settings": {
    finds: ["webhook", "unit", "warn", "UNIT_LOADS_SETTINGS"],
    spoil: (host) =>
      setUnit(host, "opsctl-webhook.service", {
        EnvironmentFiles: "/etc/opsctl/webhook.env (ignore_errors=yes)",
      }),
  },
  "the environment file has a line for a shell": {
    finds: ["webhook", "environment file", "fail", "ENV_FILE_INVALID"],
    about: "line 2",
    spoil: (host) => host.put("etc/webhook.env", "A=1\nexport MESSAGING_PHONE=5511987654321\n", 0o600),
  },
  "the key sees several instances": {
    finds: ["webhook", "messaging gateway", "fail", "gateway_instances_ambiguous"],
    spoil: (host) => host.setting("webhook", "MESSAGING_API_KEY", "canary-gateway-2d88"),
  },
  "the gateway has no licence for the socket monitor either": {
    finds: ["socket-monitor", "messaging gateway", "fail", "gateway_license_required"],
    spoil: (host) => {
      host.gateway.isLicensed = false;
    },
  },
  "the gateway's address speaks no TLS": {
    finds: ["webhook", "messaging gateway", "fail", "gateway_connection_lost"],
    about: "whether MESSAGING_API_URL leads to it",
    spoil: (host) =>
      host.setting("webhook", "MESSAGING_API_URL", host.gateway.url.replace("http:", "https:")),
  },
  "the service pauses its messages for want of a licence": {
    finds: ["webhook", "status", "fail", "gateway_license_required"],
    about: "Activate the gateway's licence",
    spoil: (host) => {
      host.service.health.paused = { message: "gateway_license_required", issue: null, comment: null };
    },
  },
  "the service pauses its messages because Meta refuses the account": {
    finds: ["webhook", "status", "fail", "meta_190"],
    spoil: (host) => {
      host.service.health.paused = { message: "meta_190", issue: null, comment: null };
    },
  },
  "a secret stands in the environment file": {
    finds: ["webhook", "secrets", "pass", null],
    about: "MESSAGING_API_KEY comes from ~/etc/webhook.env",
    spoil: () => {},
  },
  "the tracker's team is not set": {
    finds: ["webhook", "configuration", "fail", "CONFIG_INVALID"],
    about: "ISSUE_TRACKER_TEAM_ID",
    spoil: (host) => host.setting("webhook", "ISSUE_TRACKER_TEAM_ID", ""),
  },
  "the tracker has no such team": {
    finds: ["webhook", "issue tracker", "fail", "tracker_team_missing"],
    spoil: (host) => host.setting("webhook", "ISSUE_TRACKER_TEAM_ID", "11111111-5d47-4a90-8c1e-0e1f2a3b4c5d"),
  },
  "the tracker refuses the token": {
    finds: ["webhook", "issue tracker", "fail", "tracker_unauthorized"],
    about: "opsctl secret set ISSUE_TRACKER_TOKEN",
    spoil: (host) => host.put("secrets/ISSUE_TRACKER_TOKEN", "lin_api_another"),
  },
  "others may write to the state directory": {
    finds: ["webhook", "state directory", "fail", "FILE_UNTRUSTED"],
    spoil: ({ path }) => chmodSync(path("state"), 0o775),
  },
  "alerts are undelivered": {
    finds: ["webhook", "status", "warn", "OUTBOX_DEAD"],
    about: "3 messages not delivered -> Retry all with opsctl webhook dead retry --all; first see them:",
    spoil: (host) => {
      host.service.health.message = { queued: 1, dead: 3, unknown: 0, oldestQueuedAgeSeconds: 4 };
    },
  },
  "it is not known whether messages were sent": {
    finds: ["webhook", "status", "warn", "OUTBOX_UNKNOWN"],
    about: "2 messages",
    spoil: (host) => {
      host.service.health.message = { queued: 0, dead: 0, unknown: 2, oldestQueuedAgeSeconds: null };
    },
  },
  "issues are undelivered, and a message that --all would send again has an unknown result": {
    finds: ["webhook", "status", "warn", "OUTBOX_DEAD"],
    about: "Retry each with opsctl webhook dead retry --row <id>",
    spoil: (host) => {
      host.service.health.message = { queued: 0, dead: 0, unknown: 1, oldestQueuedAgeSeconds: null };
      host.service.health.issue = { queued: 0, dead: 3, unknown: 0, oldestQueuedAgeSeconds: null };
    },
  },
  "the service cannot count its queue": {
    finds: ["webhook", "status", "fail", "STATE_UNREADABLE"],
    spoil: (host) => void Object.assign(host.service.health, { message: null }),
  },
  "alerts wait for long": {
    finds: ["webhook", "status", "warn", "OUTBOX_DELAYED"],
    about: "2 queued, the oldest for 20 min",
    spoil: (host) => {
      host.service.health.issue = { queued: 2, dead: 0, unknown: 0, oldestQueuedAgeSeconds: 1200 };
    },
  },
  "the service pauses its messages": {
    finds: ["webhook", "status", "fail", "gateway_unauthorized"],
    about: "Correct MESSAGING_API_KEY",
    spoil: (host) => {
      host.service.health.paused = { message: "gateway_unauthorized", issue: null, comment: null };
    },
  },
  "the platform has another secret": {
    finds: ["webhook", "status", "warn", "WEBHOOK_SECRET_REFUSED"],
    about: "2026-11-22T12:00:01.000Z",
    spoil: (host) => {
      const [acceptedAt, secretRefusedAt] = ["2026-11-22T12:00:00.000Z", "2026-11-22T12:00:01.000Z"];
      host.service.health.posts = { acceptedAt, secretRefusedAt };
    },
  },
  "the service cannot accept": {
    finds: ["webhook", "status", "fail", "WEBHOOK_NOT_READY"],
    spoil: (host) => {
      host.service.routes.ready.script = () => ({ status: 503, json: {} });
    },
  },
  "the service does not run": {
    finds: ["webhook", "status", "fail", "WEBHOOK_NOT_ANSWERING"],
    spoil: silenceWebhook,
  },
  "the service is stopped": {
    finds: ["webhook", "unit", "fail", "UNIT_INACTIVE"],
    about: "systemctl start",
    spoil: (host) => silent(host, "inactive"),
  },
  "the service ends over and over": {
    finds: ["webhook", "unit", "fail", "UNIT_INACTIVE"],
    about: "journalctl",
    spoil: (host) => silent(host, "activating"),
  },
  "the admin port is off, which is no fault": {
    finds: ["webhook", "status", "warn", "WEBHOOK_NOT_ANSWERING"],
    about: "its admin port is off",
    spoil({ dependencies }) {
      dependencies.env = { ...dependencies.env, WEBHOOK_ADMIN_PORT: "0" };
    },
  },
  "a unit is not installed": {
    finds: ["webhook", "unit", "fail", "UNIT_MISSING"],
    spoil: (host) => setUnit(host, "opsctl-webhook.socket", { LoadState: "not-found" }),
  },
  "a unit is not enabled": {
    finds: ["webhook", "unit", "warn", "UNIT_DISABLED"],
    spoil: (host) => setUnit(host, "opsctl-webhook.service", { UnitFileState: "disabled" }),
  },
  ...Object.fromEntries(
    SOCKET_PROPERTIES.map(([property, value, code]) => [
      `the socket has ${property}=${value}`,
      {
        finds: ["webhook", "unit", "warn", code],
        spoil: (host: Host) => setUnit(host, "opsctl-webhook.socket", { [property]: value }),
      } satisfies Fault,
    ]),
  ),
  "the host has no systemd": {
    finds: ["webhook", "unit", "warn", "SYSTEMD_MISSING"],
    spoil: (host) => {
      host.dependencies.systemctl = async () => "";
    },
  },
  "ss fails": {
    finds: ["socket-monitor", "socket table", "fail", "SOCKETS_UNREADABLE"],
    spoil: (host) => host.put("bin/ss", "#!/bin/sh\nexit 1\n", 0o755),
  },
  "the webhook's file is open to others": {
    finds: ["socket-monitor", "configuration", "fail", "SECRET_FILE_EXPOSED"],
    spoil: (host) => host.put("etc/webhook.env", "", 0o604),
  },
  "a directory is in the place of the webhook's file": {
    finds: ["socket-monitor", "configuration", "fail", "SECRET_FILE_UNREADABLE"],
    about: "it is not a regular file",
    spoil: (host) => {
      rmSync(host.path("etc/webhook.env"));
      mkdirSync(host.path("etc/webhook.env"));
      host.setting("socket-monitor", "OPSCTL_WEBHOOK_ENV_FILE", host.path("etc/webhook.env"));
    },
  },
  "the socket monitor counted more sockets than its threshold": {
    finds: ["socket-monitor", "status", "warn", "SOCKETS_ABOVE_THRESHOLD"],
    spoil: (host) => {
      const time = new Date(NOW_MS - 60_000).toISOString();
      host.put("log/socket_monitor.log", `${JSON.stringify({ time, total: 10_001, threshold: 10_000 })}\n`);
    },
  },
  "the gateway has lost its phone, as the service knows": {
    finds: ["webhook", "status", "fail", "sem_instancia_gateway"],
    about: "gateway disconnected",
    spoil: (host) => void Object.assign(host.service.health, { gatewayOpen: false }),
  },
  "WhatsApp does not acknowledge messages": {
    finds: ["webhook", "status", "warn", "MESSAGES_NOT_ACKNOWLEDGED"],
    spoil: (host) => void Object.assign(host.service.health, { gatewayOpen: true, pendingMessages: 4 }),
  },
  "a directory stands in the place of the socket monitor's log": {
    finds: ["socket-monitor", "status", "warn", "FILE_UNREADABLE"],
    spoil: ({ path }) => {
      rmSync(path("log/socket_monitor.log"));
      mkdirSync(path("log/socket_monitor.log"));
    },
  },
};

function setFallback(host: Host, key: string): void {
  host.setting("webhook", "ALERT_EMAIL_TO", "ops@client.example");
  host.setting("webhook", "ALERT_EMAIL_FROM", "alarm@mail.example");
  host.setting("webhook", "ALERT_EMAIL_API_KEY", key);
  host.setting("webhook", "ALERT_EMAIL_API_URL", host.email.url);
}
