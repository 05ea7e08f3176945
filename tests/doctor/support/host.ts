/** A host on which every command has what it needs, in a folder of its own, and doctor run on it in this process. */
import { createHash } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { openDoctorDependencies } from "../../../cli/wiring/host/doctor.ts";
import { ruleDocument } from "../../../lib/alert-rules/rule-document.ts";
import { alertRules } from "../../../lib/alert-rules/rules/all.ts";
import { checksFor } from "../../../lib/doctor/checks/all.ts";
import type { CommandName, DoctorDependencies, Finding } from "../../../lib/doctor/context.ts";
import { runDoctor } from "../../../lib/doctor/run.ts";
import { COMMAND_NAMES } from "../../../lib/platform/config/settings-table.ts";
import { openSqliteStore } from "../../../lib/webhook/store/sqlite/store.ts";
import { loose } from "../../alert-rules/support/documents.ts";
import { pointOf } from "../../alert-rules/support/platform.ts";
import { type Application, startApplication } from "../../standins/application.ts";
import { type Engine, runningContainer, startEngine } from "../../standins/docker-engine.ts";
import { type EmailProvider, startEmailProvider } from "../../standins/email-provider.ts";
import { type Gateway, startGateway } from "../../standins/gateway.ts";
import { type Monitoring, startMonitoring } from "../../standins/grafana.ts";
import { type Hosting, projectOf, startHosting } from "../../standins/hosting.ts";
import { type StandIn, startStandIn } from "../../standins/standin.ts";
import { startTracker, type Tracker } from "../../standins/tracker.ts";
import { sharedPostgres, type TestDatabase } from "../../support/postgres.ts";
import { seedOwner, seedSenders, setClock } from "../../support/seed.ts";
import { silentLog } from "../../support/silent-log.ts";

/** The secrets of the host, each a canary that no finding may show. */
export const CANARIES = {
  TRIGGER_SECRET: "canary-trigger-1c77",
  GATEWAY_ADMIN_KEY: "canary-gateway-2d88",
  EMAIL_API_KEY: "re_canary_email_3e99",
  WEBHOOK_SECRET: "canary-webhook-4faa",
  ISSUE_TRACKER_TOKEN: "lin_api_canary_50bb",
  HOSTING_TOKEN: "canary-hosting-61cc",
  MONITORING_TOKEN: "canary-monitoring-72dd",
  MESSAGING_API_KEY: "CANARY-INSTANCE-83EE",
};

const TEAM = "9c36b1a2-5d47-4a90-8c1e-0e1f2a3b4c5d";
const PHONE = "5511987654321";
/** What `nowMs` of the host returns. */
export const NOW_MS = Date.parse("2026-11-23T12:00:00Z");

/** The host; everything on it may be changed before `examine`. */
export type Host = {
  folder: string;
  dependencies: DoctorDependencies;
  db: TestDatabase;
  gateway: Gateway;
  tracker: Tracker;
  email: EmailProvider;
  hosting: Hosting;
  engine: Engine;
  monitoring: Monitoring;
  application: Application;
  /** The admin port of a running webhook. */
  service: StandIn<"ready" | "health"> & {
    health: { paused: object; message: object; issue: object; comment: object; posts?: object };
  };
  peers: StandIn<string>[];
  path(...parts: string[]): string;
  /** Writes a file below the folder. */
  put(path: string, text: string | Uint8Array, mode?: number): void;
  /** Sets a variable of a command's environment file; null removes it. */
  setting(command: string, name: string, value: string | null): void;
  /** What stands in the settings file of a command. */
  settings(command: string): Readonly<Record<string, string>>;
  examine(command?: CommandName | null): Promise<Finding[]>;
  /** The checks of the last `examine` that have not ended, each as "command: name", in their order. */
  open(): string[];
  [Symbol.asyncDispose](): Promise<void>;
};

/** Opens a healthy host. */
export async function openHost(): Promise<Host> {
  const folder = mkdtempSync(join(tmpdir(), "opsctl-doctor-"));
  chmodSync(folder, 0o755);
  const path = (...parts: string[]) => join(folder, ...parts);
  for (const name of ["etc", "secrets", "log", "state", "textfile", "proc", "bin"])
    mkdirSync(path(name), { mode: 0o755 });
  const put: Host["put"] = (name, text, mode = 0o600) => {
    writeFileSync(path(name), text, { mode });
    chmodSync(path(name), mode);
  };

  const db = await (await sharedPostgres()).createDatabase();
  const senders = await seedSenders(db.sql);
  await seedOwner(db.sql);
  // In the middle of a week, whatever the day of the test: on a Monday a host on which nothing has run says so.
  await setClock(db.sql, "2026-11-25T12:00:00Z");
  const named = await startPeers();
  const peers: StandIn<string>[] = Object.values(named);
  const files = environmentFilesOf({ ...named, path, senders });
  const writeSettings = (command: string) =>
    put(
      `etc/${command}.env`,
      Object.entries(files[command]!)
        .map(([name, value]) => `${name}='${value}'\n`)
        .join(""),
    );
  for (const command of Object.keys(files)) writeSettings(command);
  put("secrets/DATABASE_URL", db.url);
  for (const [name, value] of Object.entries(CANARIES))
    if (name !== "MESSAGING_API_KEY") put(`secrets/${name}`, value);
  furnish({ put, path });
  await (await openSqliteStore({ directory: path("state"), nowMs: Date.now, log: silentLog })).close();

  const host: Host = {
    ...{ folder, db, ...named, peers },
    dependencies: dependenciesOf({ path, service: named.service }),
    path,
    put,
    setting(command, name, value) {
      if (value === null) delete files[command]![name];
      else files[command]![name] = value;
      writeSettings(command);
    },
    settings: (command) => files[command]!,
    examine: (command = null) => {
      const commands = command === null ? COMMAND_NAMES : [command];
      const open = new Set(checksFor(commands));
      host.open = () => [...open].map((check) => `${check.command}: ${check.name}`);
      const seen = [...open].map((check) => ({
        ...check,
        run: (...words: Parameters<typeof check.run>) =>
          check.run(...words).finally(() => open.delete(check)),
      }));
      return runDoctor(host.dependencies, seen, { isNamed: command !== null });
    },
    open: () => [],
    [Symbol.asyncDispose]: async () => {
      await Promise.all(peers.map((peer) => peer.stop()));
      await db.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return host;
}

type Peers = Pick<
  Host,
  "gateway" | "tracker" | "email" | "hosting" | "engine" | "monitoring" | "application" | "service"
>;

async function startPeers(): Promise<Peers> {
  const gateway = await startGateway({
    adminKey: CANARIES.GATEWAY_ADMIN_KEY,
    instances: { ops: "open", alerts: "open" },
    tokens: { alerts: CANARIES.MESSAGING_API_KEY },
  });
  const tracker = await startTracker({ token: CANARIES.ISSUE_TRACKER_TOKEN, teamId: TEAM });
  const email = await startEmailProvider({ apiKey: CANARIES.EMAIL_API_KEY, sendsOnly: true });
  const hosting = await startHosting({
    token: CANARIES.HOSTING_TOKEN,
    projects: [projectOf("site", "READY")],
  });
  const engine = await startEngine({ containers: { traefik: runningContainer() } });
  const monitoring = await startMonitoring({
    token: CANARIES.MONITORING_TOKEN,
    folders: ["vps"],
    dataSources: { prom: "prometheus", logs: "loki" },
  });
  const settings = {
    url: "https://alerts.example/webhook",
    authorization_credentials: CANARIES.WEBHOOK_SECRET,
  };
  monitoring.points.push(pointOf("opsctl-webhook", { settings }), pointOf("plantão"));
  const uids = { folder: "vps", metrics: "prom", logs: "logs" };
  const receivers = { main: "opsctl-webhook", fallback: "plantão" };
  for (const rule of alertRules({ withExtras: true }))
    monitoring.seed(loose(ruleDocument(rule, uids, receivers)), "api");
  const application = await startApplication({
    triggerSecret: CANARIES.TRIGGER_SECRET,
    cronSecret: "none",
    onAnalyze: async () => {},
  });
  const service = await startService();
  return { gateway, tracker, email, hosting, engine, monitoring, application, service };
}

/** The variables of each command's environment file. */
function environmentFilesOf({
  path,
  senders,
  ...peers
}: Peers & Pick<Host, "path"> & { senders: Awaited<ReturnType<typeof seedSenders>> }): Record<
  string,
  Record<string, string>
> {
  const { gateway, tracker, email, hosting, engine, monitoring, application } = peers;
  return {
    weekly: {
      APP_BASE_URL: application.url,
      GATEWAY_URL: gateway.url,
      EMAIL_API_URL: email.url,
      WHATSAPP_REPORT_SENDER_TENANT_ID: senders.whatsappTenantId,
      WEEKLY_REPORT_EMAIL_SENDER_TENANT_ID: senders.emailTenantId,
      OPSCTL_LOG_DIR: path("log"),
    },
    webhook: {
      MESSAGING_API_URL: gateway.url,
      MESSAGING_API_KEY: CANARIES.MESSAGING_API_KEY,
      MESSAGING_PHONE: PHONE,
      ISSUE_TRACKER_URL: tracker.endpoint,
      ISSUE_TRACKER_TEAM_ID: TEAM,
      OPSCTL_STATE_DIR: path("state"),
    },
    "collect-metrics": {
      TEXTFILE_DIR: path("textfile"),
      OPSCTL_LOG_DIR: path("log"),
      DOCKER_HOST: engine.url.replace("http://", "tcp://"),
      HOSTING_API_URL: hosting.url,
      HOSTING_PROJECTS: "1",
    },
    "socket-monitor": {
      OPSCTL_LOG_DIR: path("log"),
      OPSCTL_STATE_DIR: path("state"),
      OPSCTL_WEBHOOK_ENV_FILE: "",
    },
    "alert-rules": {
      MONITORING_URL: monitoring.url,
      MONITORING_FOLDER_UID: "vps",
      MONITORING_PROMETHEUS_UID: "prom",
      MONITORING_LOKI_UID: "logs",
      MONITORING_RECEIVER: "opsctl-webhook",
      OPSCTL_LOG_DIR: path("log"),
    },
  };
}

const ACCOUNT = { name: "opsctl", gid: 64_001, home: "/", groups: [] };

/** The words and the command of a fix as one text; the empty text where there is none. */
export function fixOf({ fix }: Pick<Finding, "fix">): string {
  return [fix?.text, fix?.command].filter((part) => part != null).join(" ");
}

/** Has systemd say this of a unit. */
export function setUnit(host: Host, unit: string, properties: Readonly<Record<string, string>>): void {
  const { systemctl } = host.dependencies;
  host.dependencies.systemctl = async (words, signal) => {
    const shown = await systemctl(words, signal);
    const changed = (text: string) => {
      if (!text.includes(`Id=${unit}\n`)) return text;
      const rest = text.split("\n").filter((line) => !(line.split("=")[0]! in properties));
      return [...Object.entries(properties).map(([name, value]) => `${name}=${value}`), ...rest].join("\n");
    };
    return shown.split("\n\n").map(changed).join("\n\n");
  };
}

/** Status and reason of what one check found. */
export function ofCheck(findings: readonly Finding[], check: string) {
  return findings.filter((one) => one.check === check).map(({ status, reason }) => ({ status, reason }));
}

/** Nothing answers at the webhook's admin port. */
export function silenceWebhook({ dependencies }: Pick<Host, "dependencies">): void {
  dependencies.env = { ...dependencies.env, WEBHOOK_ADMIN_PORT: "1" };
}

/** Mode, size, time, owner and content of every entry below a folder. */
export function treeOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true })
    .map(String)
    .sort()
    .map((name) => {
      const path = join(folder, name);
      const { mode, size, mtimeMs, uid } = lstatSync(path);
      const content = lstatSync(path).isFile()
        ? createHash("sha256").update(readFileSync(path)).digest("hex")
        : "";
      return `${name} ${mode.toString(8)} ${size} ${mtimeMs} ${uid} ${content}`;
    });
}

function dependenciesOf({ path, service }: Pick<Host, "path" | "service">): DoctorDependencies {
  const env = {
    OPSCTL_SECRETS_DIR: path("secrets"),
    PATH: `${path("bin")}:/usr/bin:/bin`,
    WEBHOOK_ADMIN_PORT: new URL(service.url).port,
  };
  return {
    ...openDoctorDependencies({ env, envDir: path("etc"), rootsLogin: null }),
    paths: { localtime: path("localtime"), cronFile: path("cron"), procNet: path("proc") },
    // This process stands for the account.
    findServiceAccount: async () => ({ ...ACCOUNT, uid: process.geteuid!() }),
    // Times of files are compared with this clock, which stands still; the database has the real one.
    nowMs: () => NOW_MS,
    systemctl: async () => `Id=opsctl-webhook.socket\n${UNIT}\nId=opsctl-webhook.service\n${UNIT}`,
  };
}

/** What systemctl shows of a unit that is as it should be. */
const UNIT = `IPIngressBytes=864
IPAddressAllow=10.0.0.0/8 127.0.0.0/8
IPAddressDeny=::/0 0.0.0.0/0
ActiveState=active
LoadState=loaded
UnitFileState=enabled
`;

function furnish({ put, path }: Pick<Host, "put" | "path">): void {
  const seconds = NOW_MS / 1000;
  put("log/weekly_performance_reports.success", "{}\n", 0o644);
  utimesSync(path("log/weekly_performance_reports.success"), seconds - 86_400, seconds - 86_400);
  put("log/socket_monitor.log", `{"time":"${new Date(NOW_MS - 60_000).toISOString()}","total":12}\n`, 0o644);
  put("textfile/custom_metrics.prom", metricsText(seconds - 30), 0o644);
  const plan = { command: "plan", at: "2026-11-22T12:00:00Z", withExtras: true, rules: 18, differ: 0 };
  put("log/alert-rules.last.json", JSON.stringify(plan));
  put("localtime", zoneFile("UTC0"));
  copyFileSync(join(import.meta.dirname, "../../../systemd/opsctl.cron"), path("cron"));
  put("proc/tcp", `  sl  local_address rem_address   st\n   0: 00000000:${"2454"} 00000000:0000 0A 0\n`);
  put("proc/sockstat", "sockets: used 9\nTCP: inuse 4 orphan 0 tw 1 alloc 5 mem 1\n");
  put("bin/ss", "#!/bin/sh\nexit 0\n", 0o755);
}

/** The collector's file, as far as doctor reads it. */
export function metricsText(lastRunSeconds: number, up = 1): string {
  return (
    `opsctl_collector_up{source="proxy_memory"} ${up}\n` +
    `opsctl_collector_last_run_timestamp_seconds ${lastRunSeconds}\n`
  );
}

/** A file of the time zone database with this rule in its last line. */
export function zoneFile(rule: string): string {
  return `TZif2${"\0".repeat(39)}TZif2${"\0".repeat(39)}\n${rule}\n`;
}

async function startService(): Promise<Host["service"]> {
  const idle = { queued: 0, dead: 0, unknown: 0, oldestQueuedAgeSeconds: null };
  const health: Host["service"]["health"] = {
    paused: { message: null, issue: null, comment: null },
    message: idle,
    issue: idle,
    comment: idle,
  };
  const answer = (json: () => object) => async () => ({ status: 200, json: json() });
  const standIn = await startStandIn(
    {
      ready: { method: "GET", pattern: /^\/readyz$/, handle: answer(() => ({ status: "ready" })) },
      health: {
        method: "GET",
        pattern: /^\/healthz$/,
        handle: answer(() => ({ status: "ok", ...service.health })),
      },
    },
    { notFound: () => ({ status: 404, json: {} }) },
  );
  const service: Host["service"] = Object.assign(standIn, { health });
  return service;
}
