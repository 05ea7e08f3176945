import { describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { requires } from "../support/requires.ts";
import { smallDisk } from "../support/small-disk.ts";
import { ofCheck, testFaults } from "./support/fault.ts";
import { gatewayDown } from "./support/gateway-down.ts";
import { type Host, NOW_MS, openHost } from "./support/host.ts";

const CANNOT = {
  reason:
    "systemd filters no addresses for opsctl-webhook.socket: only a firewall keeps strangers from port 9300",
  mend: /^systemctl restart opsctl-webhook\.service; if this stays, .* closes port 9300 \(ufw status, /,
};
const ADMITS_ALL = {
  reason: "opsctl-webhook.socket admits every address: only a firewall keeps strangers from port 9300",
  mend: /^systemctl cat opsctl-webhook\.socket: take out .*, then systemctl daemon-reload and systemctl restart opsctl-/,
};
const DOES_NOT_COUNT = {
  reason:
    "not checked: whether systemd keeps strange addresses from port 9300: opsctl-webhook.socket has no IPAccounting=yes",
  mend: /^systemctl cat opsctl-webhook\.socket: bring it to the unit of this version, then systemctl daemon-reload/,
};

/** Nothing answers at the admin port, and systemd says this of the service. */
function silent(host: Host, state: string): void {
  host.dependencies.adminUrl = new URL("http://127.0.0.1:1");
  host.dependencies.runProgram = async (_program, [question, unit]) =>
    question === "is-active" && unit === "opsctl-webhook.service"
      ? { status: 3, stdout: `${state}\n` }
      : { status: 0, stdout: "active\n" };
}

describe("runDoctor() finds of the webhook and the socket monitor that", () => {
  testFaults({
    "the shared state would not be opened any more, although the old service still runs": {
      ...{ command: "webhook", check: "state directory", status: "fail" },
      reason:
        "DATABASE_UNREACHABLE: the connection failed with TLS_REFUSED because the server does not offer TLS",
      mend: /unless OPSCTL_STATE_URL says otherwise: .*sslrootcert.*sslmode=disable/,
      spoil: (host) => host.put("secrets/OPSCTL_STATE_URL", host.db.url.replace("127.0.0.1", "0.0.0.0")),
    },
    "the environment file is open to others": {
      ...{ command: "webhook", check: "environment file", status: "fail" },
      reason: /webhook\.env has mode 0644, open to group or others$/,
      mend: /^chmod 0600 \/.*\/webhook\.env$/,
      spoil: (host) => host.put("etc/webhook.env", "", 0o644),
    },
    "the unit's environment file is missing": {
      ...{ command: "webhook", check: "environment file", status: "fail" },
      reason: /webhook\.env does not exist: webhook is started with it and ends at once$/,
      mend: /^install -D -m 0600 -o opsctl \/dev\/null \/.*\/webhook\.env # then fill it in$/,
      spoil: (host) => {
        rmSync(host.path("etc/webhook.env"));
        host.put("units/opsctl-webhook.service", `EnvironmentFile=${host.path("etc/webhook.env")}\n`, 0o644);
      },
    },
    "nothing of an environment file that cannot be read is called missing": {
      ...{ command: "webhook", check: "configuration", status: "warn" },
      reason: /^not checked: \/.*\/webhook\.env was not read, see environment file$/,
      spoil: (host) => {
        rmSync(host.path("etc/webhook.env"));
        mkdirSync(host.path("etc/webhook.env"));
      },
    },
    "the second channel's key is refused": {
      ...{ command: "webhook", check: "second channel", status: "fail" },
      reason: "email_api_key_invalid: the e-mail provider refuses the key of the second channel",
      mend: /^Correct ALERT_EMAIL_API_KEY in \/\S+, then systemctl reload opsctl-webhook\.service$/,
      spoil: (host) => setSecondChannel(host, "canary-wrong-key"),
    },
    "the second channel's provider is away": {
      ...{ command: "webhook", check: "second channel", status: "warn" },
      reason: /^email_http_503: the e-mail provider does not say/,
      mend: "Check ALERT_EMAIL_API_URL and the network",
      spoil(host) {
        setSecondChannel(host, "canary-key");
        host.email.routes.domains.script = () => ({ status: 503 });
      },
    },
    "half a second channel is set up": {
      ...{ command: "webhook", check: "configuration", status: "fail" },
      reason: /ALERT_EMAIL_FROM/,
      spoil: (host) => host.setting("webhook", "ALERT_EMAIL_TO", "ops@client.example"),
    },
    "there is no second channel": {
      ...{ command: "webhook", check: "second channel", status: "warn" },
      reason: "no second channel is set up: while WhatsApp takes nothing, no person is told",
      mend: /^Set ALERT_EMAIL_TO and ALERT_EMAIL_FROM in \/.*\/webhook\.env, then opsctl secret set ALERT_EMAIL_API_KEY$/,
      spoil() {},
    },
    "a unit still hands the service its settings": {
      ...{ command: "webhook", check: "unit", status: "warn" },
      reason:
        /opsctl-webhook\.service\.d\/old\.conf has EnvironmentFile=: a reload does not change what is in it$/,
      mend: /^Remove that line from \/.*\/old\.conf, then systemctl daemon-reload and systemctl restart opsctl-webhook\.service$/,
      spoil: (host) => {
        mkdirSync(host.path("units/opsctl-webhook.service.d"), { recursive: true });
        host.put(
          "units/opsctl-webhook.service.d/old.conf",
          "EnvironmentFile=-/etc/opsctl/webhook.env\n",
          0o644,
        );
      },
    },
    "the environment file has a line for a shell": {
      ...{ command: "webhook", check: "environment file", status: "fail" },
      reason: /^ENV_FILE_INVALID: \/.*\/webhook\.env: line 2 begins with export, /,
      mend: /^Correct line 2 of \/.*\/webhook\.env$/,
      spoil: (host) => host.put("etc/webhook.env", "A=1\nexport MESSAGING_PHONE=5511987654321\n", 0o600),
    },
    "the key sees several instances": {
      ...{ command: "webhook", check: "messaging gateway", status: "fail" },
      reason: "gateway_instances_ambiguous: ",
      mend: "Set MESSAGING_INSTANCE",
      spoil: (host) => host.setting("webhook", "MESSAGING_API_KEY", "canary-gateway-2d88"),
    },
    "the alerts' instance is closed": {
      ...{ command: "webhook", check: "messaging gateway", status: "fail" },
      reason: "sem_instancia_gateway: the instance is not connected to its phone",
      mend: /pair the sending phone/,
      spoil: (host) => host.gateway.instances.set("alerts", "close"),
    },
    "the gateway has no licence": {
      ...{ command: "webhook", check: "messaging gateway", status: "fail" },
      reason: "gateway_license_required: the gateway has no active licence",
      mend: "Activate the gateway's licence",
      spoil: (host) => {
        host.gateway.isLicensed = false;
      },
    },
    "the gateway has no licence for the socket monitor either": {
      ...{ command: "socket-monitor", check: "messaging gateway", status: "fail" },
      reason: "gateway_license_required: ",
      mend: "Activate the gateway's licence",
      spoil: (host) => {
        host.gateway.isLicensed = false;
      },
    },
    ...gatewayDown("webhook", "MESSAGING_API_URL", "messaging gateway", ""),
    "the service holds its messages for want of a licence": {
      ...{ command: "webhook", check: "service", status: "fail" },
      reason: "gateway_license_required: the service holds its messages",
      mend: /^Activate the gateway's licence: .*; the service goes on by itself within a minute$/,
      spoil: (host) => {
        host.service.health.holds = { message: "gateway_license_required", issue: null };
      },
    },
    "the service holds its messages for want of a phone": {
      ...{ command: "webhook", check: "service", status: "fail" },
      reason: "sem_instancia_gateway: the service holds its messages",
      mend: /pair its phone again; the service goes on by itself within a minute$/,
      spoil: (host) => {
        host.service.health.holds = { message: "sem_instancia_gateway", issue: null };
      },
    },
    "the service holds its messages because Meta refuses the account": {
      ...{ command: "webhook", check: "service", status: "fail" },
      reason: "meta_190: the service holds its messages",
      mend: /^Give the instance in the gateway a new, lasting token/,
      spoil: (host) => {
        host.service.health.holds = { message: "meta_190", issue: null };
      },
    },
    "a secret stands in the environment file": {
      ...{ command: "webhook", check: "secrets", status: "pass" },
      reason: /^MESSAGING_API_KEY comes from \/.*\/webhook\.env$/,
      spoil: () => {},
    },
    "the tracker's team is not set": {
      ...{ command: "webhook", check: "configuration", status: "fail" },
      reason: "ISSUE_TRACKER_TEAM_ID is missing; expected the UUID of the team that receives the issues",
      mend: /^Set ISSUE_TRACKER_TEAM_ID in /,
      spoil: (host) => host.setting("webhook", "ISSUE_TRACKER_TEAM_ID", ""),
    },
    "the tracker has no such team": {
      ...{ command: "webhook", check: "issue tracker", status: "fail" },
      reason: "tracker_team_missing: ",
      mend: /^Correct ISSUE_TRACKER_TEAM_ID in \/.*\/webhook\.env$/,
      spoil: (host) =>
        host.setting("webhook", "ISSUE_TRACKER_TEAM_ID", "11111111-5d47-4a90-8c1e-0e1f2a3b4c5d"),
    },
    "the tracker refuses the token": {
      ...{ command: "webhook", check: "issue tracker", status: "fail" },
      reason: "tracker_unauthorized: ",
      mend: /^Correct ISSUE_TRACKER_TOKEN in \/.*\/secrets\/ISSUE_TRACKER_TOKEN, then systemctl reload opsctl-webhook\.service$/,
      spoil: (host) => host.put("secrets/ISSUE_TRACKER_TOKEN", "lin_api_another"),
    },
    "the state directory is not the service's": {
      ...{ command: "webhook", check: "state directory", status: "fail" },
      reason: /\/state with mode 0755 of uid \d+, gid \d+ is closed to opsctl$/,
      mend: /^install -d -o opsctl -g opsctl -m 0700 \/.*\/state$/,
      spoil: (host) => host.put("passwd", "opsctl:x:4242:4242::/:/bin/false\n"),
    },
    "others may write to the state directory": {
      ...{ command: "webhook", check: "state directory", status: "fail" },
      reason:
        /^\/.*\/state will not be used: \/.*\/state has mode 0775, and group or others may write to it$/,
      mend: /^chmod go-w \/.*\/state # unless others need it/,
      spoil: ({ path }) => chmodSync(path("state"), 0o775),
    },
    "alerts were given up": {
      ...{ command: "webhook", check: "outbox", status: "warn" },
      reason: "3 messages were given up",
      mend: /^opsctl webhook dead list, then opsctl webhook dead retry --all$/,
      spoil: (host) => {
        host.service.health.message = { queued: 1, dead: 3, oldestQueuedAgeSeconds: 4 };
      },
    },
    "issues were given up, and a message that all would send again is in doubt": {
      ...{ command: "webhook", check: "outbox", status: "warn" },
      reason: "3 issues were given up",
      mend: /^opsctl webhook dead list, then opsctl webhook dead retry --row <id> of each$/,
      spoil: (host) => {
        host.service.health.message = { queued: 0, dead: 0, inDoubt: 1, oldestQueuedAgeSeconds: null };
        host.service.health.issue = { queued: 0, dead: 3, inDoubt: 0, oldestQueuedAgeSeconds: null };
      },
    },
    "alerts wait for long": {
      ...{ command: "webhook", check: "outbox", status: "warn" },
      reason: "2 issues wait, the oldest for 20 min",
      spoil: (host) => {
        host.service.health.issue = { queued: 2, dead: 0, oldestQueuedAgeSeconds: 1200 };
      },
    },
    "the service holds its messages": {
      ...{ command: "webhook", check: "service", status: "fail" },
      reason: "gateway_unauthorized: the service holds its messages",
      mend: /^Correct MESSAGING_API_KEY in \/\S+, then systemctl reload opsctl-webhook\.service$/,
      spoil: (host) => {
        host.service.health.holds = { message: "gateway_unauthorized", issue: null };
      },
    },
    "the platform has another secret": {
      ...{ command: "webhook", check: "service", status: "warn" },
      reason:
        /^the last post from elsewhere, at 2026-11-22T12:00:01\.000Z, was refused: it has another secret/,
      mend: /--rotate --url https:\/\/<alert host>\/webhook$/,
      spoil: (host) => {
        const [acceptedAt, secretRefusedAt] = ["2026-11-22T12:00:00.000Z", "2026-11-22T12:00:01.000Z"];
        host.service.health.posts = { acceptedAt, secretRefusedAt };
      },
    },
    "the service cannot accept": {
      ...{ command: "webhook", check: "service", status: "fail" },
      reason: "the service runs and cannot accept alerts",
      spoil: (host) => {
        host.service.routes.ready.script = () => ({ status: 503, json: {} });
      },
    },
    "the service does not run": {
      ...{ command: "webhook", check: "service", status: "warn" },
      reason: "the service does not answer on 127.0.0.1:1",
      mend: "systemctl start",
      spoil: (host) => silent(host, "inactive"),
    },
    "the service is started over and over": {
      ...{ command: "webhook", check: "service", status: "warn" },
      reason: "the service does not answer on 127.0.0.1:1",
      mend: /^journalctl -u opsctl-webhook\.service -n 50$/,
      spoil: (host) => silent(host, "activating"),
    },
    "nothing listens": {
      ...{ command: "webhook", check: "port", status: "warn" },
      reason: "nothing listens on port 9300",
      // Connected, not listening.
      spoil: (host) => host.put("proc/tcp", "   0: 00000000:2454 0100007F:9999 01\n"),
    },
    "the unit does not let the service write where its state is": {
      ...{ command: "webhook", check: "state directory", status: "fail" },
      reason:
        /^\/.*\/state: the unit lets the service write nowhere but in \/srv\/state and \/var\/lib\/opsctl$/,
      mend: /^systemctl edit opsctl-webhook\.service: below \[Service\] write ReadWritePaths=\/\S+\/state, then systemctl restart/,
      spoil: (host) => hardened(host, "-/srv/state"),
    },
    "the service ends over and over": {
      ...{ command: "webhook", check: "unit", status: "warn" },
      reason: "opsctl-webhook.service is activating",
      mend: /^journalctl -u opsctl-webhook\.service -n 50$/,
      spoil: (host) => silent(host, "activating"),
    },
    "a unit is not installed": {
      ...{ command: "webhook", check: "unit", status: "fail" },
      reason: "opsctl-webhook.socket is not installed",
      spoil: ({ path }) => rmSync(path("units/opsctl-webhook.socket")),
    },
    "a unit is not enabled": {
      ...{ command: "webhook", check: "unit", status: "warn" },
      reason: "opsctl-webhook.service is disabled",
      mend: "systemctl enable opsctl-webhook.service",
      spoil: (host) => {
        host.dependencies.runProgram = async (_program, [question]) =>
          question === "is-enabled" ? { status: 1, stdout: "disabled\n" } : { status: 0, stdout: "active\n" };
      },
    },
    // As systemd 252 says that it cannot filter, and others; the unit without its list, by a drop-in, and of before.
    ...Object.fromEntries(
      (
        [
          ["IPIngressBytes", "[no data]", CANNOT],
          ["IPIngressBytes", "[not set]", CANNOT],
          ["IPIngressBytes", "18446744073709551615", CANNOT],
          ["IPAddressDeny", "", ADMITS_ALL],
          ["IPAddressDeny", "192.0.2.0/24", ADMITS_ALL],
          ["IPAddressAllow", "::/0 0.0.0.0/0", ADMITS_ALL],
          ["IPAccounting", "no", DOES_NOT_COUNT],
        ] as const
      ).map(([property, value, found]) => [
        `the socket has ${property}=${value}`,
        {
          ...{ command: "webhook", check: "unit", status: "warn", ...found },
          spoil: (host: Host) => {
            const { runProgram } = host.dependencies;
            host.dependencies.runProgram = async (program, words, signal) => {
              const end = await runProgram(program, words, signal);
              return {
                status: 0,
                stdout: end!.stdout.replace(new RegExp(`^${property}=.*`, "m"), `${property}=${value}`),
              };
            };
          },
        } as const,
      ]),
    ),
    "the host has no systemd": {
      ...{ command: "webhook", check: "unit", status: "warn" },
      reason: "not checked: this host has no systemctl",
      spoil: (host) => {
        host.dependencies.runProgram = async () => null;
      },
    },
    "ss fails": {
      ...{ command: "socket-monitor", check: "socket table", status: "fail" },
      reason: "Cannot list the sockets: ss ended with status 1",
      mend: "apt-get install iproute2",
      spoil: (host) => host.put("bin/ss", "#!/bin/sh\nexit 1\n", 0o755),
    },
    "the webhook's file is open to others": {
      ...{ command: "socket-monitor", check: "webhook's environment file", status: "fail" },
      reason: /webhook\.env has mode 0604, open to group or others$/,
      spoil: (host) => host.put("etc/webhook.env", "", 0o604),
    },
    "the socket monitor wrote with a clock that was wrong": {
      ...{ command: "socket-monitor", check: "last run", status: "warn" },
      reason: /socket_monitor\.log is of a time 120 s to come: a clock was wrong$/,
      mend: /^timedatectl /,
      spoil: (host) =>
        host.put(
          "log/socket_monitor.log",
          `${JSON.stringify({ time: new Date(NOW_MS + 120_000).toISOString(), total: 1 })}\n`,
        ),
    },
    "the socket monitor has stopped": {
      ...{ command: "socket-monitor", check: "last run", status: "warn" },
      reason: /socket_monitor\.log is 1200 s old$/,
      spoil: (host) => {
        const time = new Date(NOW_MS - 1_200_000).toISOString();
        host.put(
          "log/socket_monitor.log",
          `{"time":"${new Date(0).toISOString()}"}\n{"time":"${time}","total":1}\n`,
        );
      },
    },
  });
});

requires("mount").test(
  "runDoctor() finds that the disk of the state is full, and says nothing of one with room",
  async () => {
    const disk = smallDisk(20);
    try {
      await using host = await openHost();
      host.setting("webhook", "OPSCTL_STATE_DIR", disk.directory);
      const look = async () => ofCheck(await host.examine("webhook"), "state directory").slice(1);
      expect(await look()).toEqual([]);
      disk.fill();
      const reason = expect.stringMatching(/^the disk of \/.* has 0 MiB left; /);
      expect(await look()).toEqual([{ status: "warn", reason }]);
    } finally {
      disk.remove();
    }
  },
);

describe("runDoctor() finds no fault with a unit that", () => {
  const open: Record<string, (state: string) => string> = {
    "opens the state directory": (state) => state,
    "opens it where it is there": (state) => `/srv/other -${state}`,
    "opens a directory above it": (state) => `+${dirname(state)}/`,
  };
  test.each(Object.entries(open))("%s", async (_name, openedOf) => {
    await using host = await openHost();
    hardened(host, openedOf(host.path("state")));
    expect(ofCheck(await host.examine("webhook"), "state directory").slice(1)).toEqual([]);
  });
});

function setSecondChannel(host: Host, key: string): void {
  host.setting("webhook", "ALERT_EMAIL_TO", "ops@client.example");
  host.setting("webhook", "ALERT_EMAIL_FROM", "alarm@mail.example");
  host.setting("webhook", "ALERT_EMAIL_API_KEY", key);
  host.setting("webhook", "ALERT_EMAIL_API_URL", host.email.url);
}

/** What systemd says of a unit that closes all of the disk but these paths, and the state directory of its own. */
function hardened(host: Host, opened: string): void {
  const { runProgram } = host.dependencies;
  host.dependencies.runProgram = async (program, words, signal) =>
    words[1] === "opsctl-webhook.service" && words[0] === "show"
      ? { status: 0, stdout: `ProtectSystem=strict\nReadWritePaths=${opened}\nStateDirectory=opsctl\n` }
      : await runProgram(program, words, signal);
}
