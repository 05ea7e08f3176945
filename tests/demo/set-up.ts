/** Sets the demo up: the database with its customers, the systems on the other side, and the operator's alarm. */
import { HOSTED_DEFAULT_PRIVILEGES, startPostgres, type TestDatabase } from "../support/postgres.ts";
import { MONDAY, seedSenders, setClock } from "../support/seed.ts";
import { startAlarm } from "./alarm.ts";
import { claim, type Facts } from "./checks.ts";
import { LATENCY_MS, type Peers, SECRETS, startPeers } from "./peers.ts";
import { blank, say, showCommand, showExit, step, table } from "./screen.ts";
import { seedTenants } from "./seed-tenants.ts";
import type { Ended, Stage } from "./stage.ts";
import { TENANTS } from "./tenants.ts";

/** The running demo: the facts that claims are about, and how to run opsctl in it. */
export type Scene = Facts & { run(args: string[], options?: { capture?: boolean }): Promise<Ended> };

/** Starts everything, and says what there is. */
export async function setUp(stage: Stage): Promise<Scene> {
  step("A real PostgreSQL, and opsctl's tables in it");
  const db = await startDatabase(stage);
  stage.secret("DATABASE_URL", db.url);
  showCommand(["migrate"]);
  const migrated = await stage.opsctl(["migrate"], { OPSCTL_SECRETS_DIR: stage.secretsDir });
  claim("opsctl migrate succeeds", migrated.exitCode === 0);
  return await populate(stage, db);
}

async function startDatabase(stage: Stage): Promise<TestDatabase> {
  const starting = startPostgres();
  stage.onClose(() =>
    starting.then(
      (server) => server.stop(),
      () => {},
    ),
  );
  const server = await starting;
  const db = await server.createDatabase({ migrated: false });
  stage.onClose(() => db.sql.end({ timeout: 1 }));
  await db.sql.unsafe(HOSTED_DEFAULT_PRIVILEGES).simple();
  say(
    `A PostgreSQL of this demo's own listens on 127.0.0.1:${server.port} and holds the application's tables. Nothing leaves this machine.`,
  );
  return db;
}

async function populate(stage: Stage, { sql }: TestDatabase): Promise<Scene> {
  await setClock(sql, MONDAY, { ticking: true });
  const aheadMs = Date.parse(MONDAY) - Date.now();
  const senders = await seedSenders(sql);
  const tenants = await seedTenants(sql, TENANTS);
  const peers = await startPeers(sql, tenants, () => new Date(Date.now() + aheadMs));
  for (const peer of Object.values(peers)) stage.onClose(() => peer.stop());
  for (const [name, value] of Object.entries(SECRETS)) stage.secret(name, value);
  const alarm = await startAlarm(stage);
  showCast(tenants);

  const run = runner(stage, environment(stage, peers, senders, alarm.url));
  return { sql, tenants, peers, alarm, logDir: stage.logDir, run };
}

function showCast(tenants: { name: string; shows: string }[]): void {
  step("Its customers, and the systems on the other side");
  table(tenants.map(({ name, shows }) => [name, shows]));
  blank();
  say(
    `Application, messaging gateway and e-mail provider are local stand-ins that answer after ${LATENCY_MS} ms and keep a ledger. Secrets are files that only their owner can read. The database's clock shows Monday, 23 November 2026, 08:00 in São Paulo.`,
  );
  blank();
  say(
    "opsctl's own webhook runs as a service (opsctl webhook serve); what it is told goes to the operator's phone and to an issue tracker, stand-ins as well.",
  );
}

function environment(
  stage: Stage,
  peers: Peers,
  senders: Awaited<ReturnType<typeof seedSenders>>,
  alarmUrl: string,
): Record<string, string> {
  return {
    OPSCTL_SECRETS_DIR: stage.secretsDir,
    OPSCTL_LOG_DIR: stage.logDir,
    OPSCTL_ALERT_WEBHOOK: alarmUrl,
    APP_BASE_URL: peers.application.url,
    GATEWAY_URL: peers.gateway.url,
    EMAIL_API_URL: peers.email.url,
    WHATSAPP_REPORT_SENDER_TENANT_ID: senders.whatsappTenantId,
    WEEKLY_REPORT_EMAIL_SENDER_TENANT_ID: senders.emailTenantId,
    SOCIAL_EDITORIALS_ENABLED: "1",
  };
}

function runner(stage: Stage, env: Record<string, string>): Scene["run"] {
  return async (args, options) => {
    showCommand(args);
    const ended = await stage.opsctl(args, env, options);
    if (!options?.capture && ended.exitCode !== null) showExit(ended.exitCode);
    return ended;
  };
}
