/** What a weekly run of a process touches: a database on its Monday, the three peers, secret files, a log directory. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AnalysisBody, type Application, startApplication } from "../../standins/application.ts";
import { type EmailProvider, startEmailProvider } from "../../standins/email-provider.ts";
import { type Gateway, startGateway } from "../../standins/gateway.ts";
import { type PostgresServer, sharedPostgres, type TestDatabase } from "../../support/postgres.ts";
import { newLogin } from "../../support/roles.ts";
import { MONDAY, seedSenders, setClock, writeAnalysis } from "../../support/seed.ts";
import { type Ended, opsctl, type Running, type StartOptions, startOpsctl } from "./opsctl.ts";

/** The secrets of the peers: values to search outputs for. */
export const CANARIES = {
  TRIGGER_SECRET: "canary-trigger-7f3a9e",
  SOCIAL_EDITORIALS_CRON_SECRET: "canary-editorials-91bc44",
  GATEWAY_ADMIN_KEY: "canary-gateway-key-44d0aa",
  EMAIL_API_KEY: "re_canary_email_key_5e11bb",
};

/** What `{log_dir}` holds before a run: a heartbeat of long ago. */
const OLD_HEARTBEAT = '{"runId":"an earlier run"}\n';
const OLD_SECONDS = 1_700_000_000;

/** The surroundings of a run, and runs in them. */
export type Fixture = {
  db: TestDatabase;
  application: Application;
  gateway: Gateway;
  email: EmailProvider;
  senders: { whatsappTenantId: string; emailTenantId: string };
  /** Holds one folder for each of the below; for whatever else a test needs on disk. */
  folder: string;
  logDir: string;
  secretsDir: string;
  /** The variables of the process; a test changes them as it likes. */
  env: Record<string, string | undefined>;
  /** Replaces what the application does while it analyses; the default writes a score and an analysis. */
  onAnalyze: (body: AnalysisBody) => Promise<void>;
  /** Writes a secret file with mode 0600. */
  secret(name: string, value: string): void;
  /** `opsctl weekly` with these arguments, from start to end. */
  weekly(args?: string[], options?: StartOptions): Promise<Ended>;
  /** Any command in these surroundings. */
  opsctl(args: string[], options?: StartOptions): Promise<Ended>;
  /** Starts a process; one that still runs when the world closes is ended. */
  start(args: string[], options?: StartOptions): Promise<Running>;
  /** Every request that reached a peer. */
  requests(): string[];
  heartbeat: { path: string; isOld(): boolean; read(): string };
  [Symbol.asyncDispose](): Promise<void>;
};

/** Settings of a world. */
export type FixtureOptions = {
  /** What the database's clock shows. */
  clock?: string;
  /** Whether the clock goes on from there; otherwise it stands. */
  ticking?: boolean;
  migrated?: boolean;
  editorials?: boolean;
  /** The server to make the database on; the one that all tests share unless told otherwise. */
  server?: PostgresServer;
};

let login: Promise<string> | undefined;

/** A login as a deployment has it: a member of `service_role`, with a password that is a canary. */
export function serviceLogin(): Promise<string> {
  login ??= makeLogin();
  return login;
}

async function makeLogin(): Promise<string> {
  const db = await (await sharedPostgres()).createDatabase();
  try {
    return await newLogin(db.sql, "grant service_role to");
  } finally {
    await db.drop();
  }
}

/** Opens a world: senders seeded, owners not. */
export async function openFixture(options: FixtureOptions = {}): Promise<Fixture> {
  const { clock = MONDAY, ticking = false, migrated = true, editorials = false } = options;
  const server = options.server ?? (await sharedPostgres());
  const user = options.server ? "postgres" : await serviceLogin();
  const db = await server.createDatabase({ migrated });
  if (migrated) await setClock(db.sql, clock, { ticking });
  const senders = await seedSenders(db.sql);
  const folder = mkdtempSync(join(tmpdir(), "opsctl-e2e-"));
  const [logDir, secretsDir] = [join(folder, "log"), join(folder, "secrets")];
  for (const path of [logDir, secretsDir]) mkdirSync(path);
  const heartbeat = oldHeartbeat(join(logDir, "weekly_performance_reports.success"));

  const application = await startApplication({
    triggerSecret: CANARIES.TRIGGER_SECRET,
    cronSecret: CANARIES.SOCIAL_EDITORIALS_CRON_SECRET,
    onAnalyze: (body) => fixture.onAnalyze(body),
  });
  const gateway = await startGateway({ adminKey: CANARIES.GATEWAY_ADMIN_KEY });
  const email = await startEmailProvider({ apiKey: CANARIES.EMAIL_API_KEY });
  const running = new Set<Running>();

  const fixture: Fixture = {
    db,
    application,
    gateway,
    email,
    senders,
    folder,
    logDir,
    secretsDir,
    env: {
      APP_BASE_URL: application.url,
      GATEWAY_URL: gateway.url,
      EMAIL_API_URL: email.url,
      WHATSAPP_REPORT_SENDER_TENANT_ID: senders.whatsappTenantId,
      WEEKLY_REPORT_EMAIL_SENDER_TENANT_ID: senders.emailTenantId,
      OPSCTL_LOG_DIR: logDir,
      OPSCTL_SECRETS_DIR: secretsDir,
      ...(editorials ? { SOCIAL_EDITORIALS_ENABLED: "1" } : {}),
    },
    onAnalyze: (body) => writeAnalysis(db.sql, body, { score: 73 }),
    secret: (name, value) => writeFileSync(join(secretsDir, name), `${value}\n`, { mode: 0o600 }),
    weekly: (args = [], start = {}) => fixture.opsctl(["weekly", ...args], start),
    opsctl: (args, start = {}) => opsctl(args, { ...start, env: { ...fixture.env, ...start.env } }),
    async start(args, start = {}) {
      const process = await startOpsctl(args, { ...start, env: { ...fixture.env, ...start.env } });
      running.add(process);
      void process.ended.finally(() => running.delete(process));
      return process;
    },
    requests: () =>
      [application, gateway, email].flatMap(({ ledger }) => ledger.map((e) => `${e.method} ${e.path}`)),
    heartbeat,
    [Symbol.asyncDispose]: async () => {
      for (const process of running) process.kill("SIGKILL");
      await Promise.all([...running].map(({ ended }) => ended));
      await Promise.all([application.stop(), gateway.stop(), email.stop()]);
      // A server of the test's own goes away with all that is in it.
      if (!options.server) await db.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  fixture.secret("DATABASE_URL", server.url(db.name, user));
  for (const [name, value] of Object.entries(CANARIES)) fixture.secret(name, value);
  return fixture;
}

function oldHeartbeat(path: string): Fixture["heartbeat"] {
  writeFileSync(path, OLD_HEARTBEAT);
  utimesSync(path, OLD_SECONDS, OLD_SECONDS);
  const read = () => readFileSync(path, "utf8");
  return {
    path,
    read,
    isOld: () => read() === OLD_HEARTBEAT && statSync(path).mtimeMs === OLD_SECONDS * 1000,
  };
}
