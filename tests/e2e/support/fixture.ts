/** What `opsctl weekly` as a process needs: a database on a Monday, the three peers, secret files, a log directory. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AnalysisBody, type Application, startApplication } from "../../standins/application.ts";
import {
  type EmailProvider,
  type EmailProviderOptions,
  startEmailProvider,
} from "../../standins/email-provider.ts";
import { type Gateway, startGateway } from "../../standins/gateway.ts";
import { CANARIES } from "../../support/canaries.ts";
import { type PostgresServer, sharedPostgres, type TestDatabase } from "../../support/postgres.ts";
import { newLogin } from "../../support/roles.ts";
import { MONDAY, seedSenders, setClock, writeAnalysis } from "../../support/seed.ts";
import { isHeartbeatKept, plantHeartbeat } from "../../weekly/support/ledger.ts";
import { type Ended, opsctl, type Running, type StartOptions, startOpsctl } from "./opsctl.ts";

/** The database, peers and files of a run, and functions that start runs. */
export type Fixture = {
  db: TestDatabase;
  application: Application;
  gateway: Gateway;
  email: EmailProvider;
  senders: { whatsappTenantId: string; emailTenantId: string };
  /** Holds the two folders below, and other files of a test. */
  folder: string;
  logDir: string;
  secretsDir: string;
  /** The variables of the process; a test may change them. */
  env: Record<string, string | undefined>;
  /** What the application does while it analyses; the default writes a score and an analysis. */
  onAnalyze: (body: AnalysisBody) => Promise<void>;
  /** Writes a secret file with mode 0600. */
  secret(name: string, value: string): void;
  /** Runs `opsctl weekly` with these arguments to its end. */
  weekly(args?: string[], options?: StartOptions): Promise<Ended>;
  /** Runs any command to its end. */
  opsctl(args: string[], options?: StartOptions): Promise<Ended>;
  /** Starts a process; it is killed when the fixture is disposed of while it still runs. */
  start(args: string[], options?: StartOptions): Promise<Running>;
  /** Every request that reached a peer. */
  requests(): string[];
  heartbeat: { path: string; isOld(): boolean; read(): string };
  [Symbol.asyncDispose](): Promise<void>;
};

/** Options of a fixture. */
export type FixtureOptions = {
  /** What the database's clock shows. */
  clock?: string;
  /** Whether that clock runs; otherwise it stands still. */
  ticking?: boolean;
  migrated?: boolean;
  editorials?: boolean;
  /** Settings of the e-mail provider. */
  email?: Partial<EmailProviderOptions>;
  /** The server of the database; the one that all tests share when left out. */
  server?: PostgresServer;
};

let login: Promise<string> | undefined;

/** A login as in production: a member of `service_role`, whose password is a canary. */
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

/** Opens a fixture: its database has the senders, and no owners yet. */
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
  plantHeartbeat({ logDir });
  const heartbeatPath = join(logDir, "weekly_performance_reports.success");

  const application = await startApplication({
    triggerSecret: CANARIES.TRIGGER_SECRET,
    cronSecret: CANARIES.SOCIAL_EDITORIALS_CRON_SECRET,
    onAnalyze: (body) => fixture.onAnalyze(body),
  });
  const gateway = await startGateway({ adminKey: CANARIES.GATEWAY_ADMIN_KEY });
  const email = await startEmailProvider({ apiKey: CANARIES.EMAIL_API_KEY, ...options.email });
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
      ...environmentOf({ application, gateway, email, senders, logDir, secretsDir }),
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
    heartbeat: {
      path: heartbeatPath,
      isOld: () => isHeartbeatKept({ logDir }),
      read: () => readFileSync(heartbeatPath, "utf8"),
    },
    [Symbol.asyncDispose]: async () => {
      for (const process of running) process.kill("SIGKILL");
      await Promise.all([...running].map(({ ended }) => ended));
      await Promise.all([application.stop(), gateway.stop(), email.stop()]);
      // The test stops its own server, and the database with it.
      if (!options.server) await db.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  fixture.secret("DATABASE_URL", server.url(db.name, user));
  for (const [name, value] of Object.entries(CANARIES)) fixture.secret(name, value);
  return fixture;
}

function environmentOf(
  parts: Pick<Fixture, "application" | "gateway" | "email" | "senders" | "logDir" | "secretsDir">,
): Fixture["env"] {
  return {
    APP_BASE_URL: parts.application.url,
    GATEWAY_URL: parts.gateway.url,
    EMAIL_API_URL: parts.email.url,
    WHATSAPP_REPORT_SENDER_TENANT_ID: parts.senders.whatsappTenantId,
    WEEKLY_REPORT_EMAIL_SENDER_TENANT_ID: parts.senders.emailTenantId,
    OPSCTL_LOG_DIR: parts.logDir,
    OPSCTL_SECRETS_DIR: parts.secretsDir,
  };
}
