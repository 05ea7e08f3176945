/** A database on its Monday, the three peers, and processes of the real binary that work between them. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Application, startApplication } from "../standins/application.ts";
import { type EmailProvider, startEmailProvider } from "../standins/email-provider.ts";
import { type Gateway, startGateway } from "../standins/gateway.ts";
import { startTcpProxy, type TcpProxy } from "../standins/tcp-proxy.ts";
import { opsctlBinary } from "../support/binary.ts";
import { connect, type PostgresServer, sharedPostgres, type TestDatabase } from "../support/postgres.ts";
import { type SeededOwner, seedOwner, seedSenders, setClock, WEEK, writeAnalysis } from "../support/seed.ts";
import { type AlertListener, startAlertListener } from "./alert-listener.ts";
import { buildGates } from "./gates.ts";
import { startHurriedWorker } from "./hurried.ts";
import { runHere, type WiredFlags } from "./wired-run.ts";
import { type Ended, startWorker, type Worker } from "./worker.ts";

const TRIGGER_SECRET = "trigger-of-chaos";
const CRON_SECRET = "editorials-of-chaos";
const ADMIN_KEY = "gateway-of-chaos";
const API_KEY = "re_chaos";
const WEBHOOK_SECRET = "webhook-of-chaos";

const FIRST_INSTANT = "2026-11-23T03:30:00Z";

/** Everything that a disturbed run works with. */
export type Arena = {
  db: TestDatabase;
  application: Application;
  gateway: Gateway;
  email: EmailProvider;
  /** The way to the application, when the arena was opened with one: it can be refused there. */
  door: TcpProxy | null;
  /** The webhook that hears how the runs end. */
  alerts: AlertListener;
  owners: SeededOwner[];
  logDir: string;
  /** Starts `opsctl weekly --json`; a process that is still there when the arena closes is ended. */
  start(args?: string[]): Worker;
  /** Starts a weekly run whose waits pass a hundred times as fast. */
  startHurried(flags: WiredFlags): Worker;
  /** Starts another command of the binary, which prints one line of JSON. */
  startCommand(words: string[]): Worker;
  /** One run from its start to its end. */
  run(args?: string[]): Promise<Ended>;
  /** The same in this process: for a run that is not the point, a start of the binary costs too much. */
  runHere(concurrency?: number): Promise<Ended>;
  /** Moves the database's clock on by 21 minutes, past every lease. */
  passLeases(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Settings of an arena. */
export type ArenaOptions = {
  owners: number;
  latencyMs?: number;
  editorials?: boolean;
  /** The database's server, when it is not the shared one, and the port of a relay that leads to it. */
  server?: PostgresServer;
  through?: number;
  /** Whether runs reach the application through `door`. */
  withDoor?: boolean;
  /** Whether the analyses are there before the run: the application then needs no database. */
  analyzed?: boolean;
};

/** Opens an arena; its owners are in key order and everything about them is in order. */
export async function openArena({
  owners: count,
  latencyMs,
  editorials = false,
  server,
  through,
  withDoor = false,
  analyzed = false,
}: ArenaOptions): Promise<Arena> {
  const binary = await opsctlBinary();
  const direct = await (server ?? (await sharedPostgres())).createDatabase({ connections: 4 });
  const db = through === undefined ? direct : led(direct, through);
  await buildGates(db.sql);
  let minutes = 0;
  let setAtMs = Date.now();
  const shownMs = () => Date.parse(FIRST_INSTANT) + minutes * 60_000;
  const showTime = () => {
    setAtMs = Date.now();
    return setClock(db.sql, new Date(shownMs()).toISOString(), { ticking: true });
  };
  await showTime();
  const senders = await seedSenders(db.sql);
  const owners: SeededOwner[] = [];
  for (let i = 0; i < count; i += 1) {
    const tenantId = `10000000-0000-4000-8000-${String(i).padStart(12, "0")}`;
    const owner = await seedOwner(db.sql, { tenantId });
    owners.push(owner);
    if (analyzed) await analyze(db, owner);
  }

  const application = await startApplication({
    latencyMs,
    triggerSecret: TRIGGER_SECRET,
    cronSecret: CRON_SECRET,
    onAnalyze: async (body) => (analyzed ? undefined : await writeAnalysis(db.sql, body, { score: 73 })),
  });
  const door = withDoor ? await startTcpProxy(Number(new URL(application.url).port)) : null;
  const gateway = await startGateway({ latencyMs, adminKey: ADMIN_KEY });
  const email = await startEmailProvider({ latencyMs, apiKey: API_KEY });
  for (const peer of [gateway, email]) peer.now = () => new Date(shownMs() + Date.now() - setAtMs);
  const alerts = await startAlertListener(WEBHOOK_SECRET);
  const logDir = mkdtempSync(join(tmpdir(), "opsctl-chaos-"));
  const env = {
    DATABASE_URL: db.url,
    APP_BASE_URL: door === null ? application.url : `http://127.0.0.1:${door.port}`,
    TRIGGER_SECRET,
    WHATSAPP_REPORT_SENDER_TENANT_ID: senders.whatsappTenantId,
    WEEKLY_REPORT_EMAIL_SENDER_TENANT_ID: senders.emailTenantId,
    GATEWAY_URL: gateway.url,
    GATEWAY_ADMIN_KEY: ADMIN_KEY,
    EMAIL_API_URL: email.url,
    EMAIL_API_KEY: API_KEY,
    OPSCTL_LOG_DIR: logDir,
    OPSCTL_SECRETS_DIR: logDir,
    OPSCTL_LOG_LEVEL: "debug",
    OPSCTL_ALERT_WEBHOOK: alerts.url,
    WEBHOOK_SECRET,
    ...(editorials ? { SOCIAL_EDITORIALS_ENABLED: "1" } : {}),
  };
  if (editorials) {
    writeFileSync(join(logDir, "SOCIAL_EDITORIALS_CRON_SECRET"), CRON_SECRET, { mode: 0o600 });
  }

  const running = new Set<Worker>();
  const watched = (worker: Worker) => {
    running.add(worker);
    void worker.ended.finally(() => running.delete(worker));
    return worker;
  };
  const start = (args: string[] = []) => watched(startWorker(binary, ["weekly", "--json", ...args], env));
  return {
    db,
    application,
    gateway,
    email,
    door,
    alerts,
    owners,
    logDir,
    start,
    startHurried: (flags) => watched(startHurriedWorker(flags, env)),
    startCommand: (words) => watched(startWorker(binary, [...words, "--json"], env)),
    run: (args) => start(args).ended,
    runHere: (concurrency = 1) => runHere({ OPSCTL_ENV_DIR: "", ...env }, concurrency),
    async passLeases() {
      minutes += 21;
      await showTime();
    },
    [Symbol.asyncDispose]: async () => {
      for (const worker of running) worker.kill("SIGKILL");
      await Promise.all([...running].map(({ ended }) => ended));
      await door?.stop();
      await Promise.all([application.stop(), gateway.stop(), email.stop(), alerts.stop()]);
      await db.drop();
      rmSync(logDir, { recursive: true, force: true });
    },
  };
}

/** The same database through a relay, so that it is found again where the relay leads. */
function led(direct: TestDatabase, port: number): TestDatabase {
  const url = new URL(direct.url);
  url.port = String(port);
  const sql = connect(url.href, 5);
  return {
    ...direct,
    url: url.href,
    sql,
    // Its server is the test's own, which stops it.
    drop: async () => {
      await Promise.all([sql.end({ timeout: 1 }), direct.sql.end({ timeout: 1 })]);
    },
  };
}

async function analyze({ sql }: TestDatabase, { tenantId, userId, connections }: SeededOwner): Promise<void> {
  for (const { id } of connections) {
    const body = { tenantId, userId, connectionId: id, windowStart: WEEK.start, windowEnd: WEEK.end };
    await writeAnalysis(sql, body, { score: 73 });
  }
}
