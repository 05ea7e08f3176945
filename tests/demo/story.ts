/** The demo, step by step: what is shown, and what is claimed about it. */
import { HOSTED_DEFAULT_PRIVILEGES, startPostgres, type TestDatabase } from "../support/postgres.ts";
import { MONDAY, seedSenders, setClock } from "../support/seed.ts";
import {
  claim,
  claimFirstRun,
  claimNothingTwice,
  claimsHeld,
  type Facts,
  hasHeartbeat,
  taken,
} from "./checks.ts";
import { writeEmails } from "./emails.ts";
import { LATENCY_MS, SECRETS, startPeers } from "./peers.ts";
import { blank, quote, say, showCommand, showExit, step, table } from "./screen.ts";
import { seedTenants } from "./seed-tenants.ts";
import type { Ended, Stage } from "./stage.ts";
import { TENANTS } from "./tenants.ts";

const TUESDAY = "2026-11-24T11:00:00Z";

/** The running demo: the facts that claims are about, and how to run opsctl in it. */
type Scene = Facts & { run(args: string[], options?: { capture?: boolean }): Promise<Ended> };

/** Tells the whole story. */
export async function tell(stage: Stage): Promise<void> {
  const scene = await setUp(stage);
  await firstRun(scene);
  showMessages(scene);
  await whatIsLeft(scene);
  await secondRun(scene);
  await tuesday(scene);
  blank();
  say(
    `Every claim above was checked against the database and the stand-ins' own ledgers: ${claimsHeld()} checks held.`,
  );
}

async function setUp(stage: Stage): Promise<Scene> {
  step("A real PostgreSQL, and opsctl's tables in it");
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
  stage.secret("DATABASE_URL", db.url);
  showCommand(["migrate"]);
  const migrated = await stage.opsctl(["migrate"], { OPSCTL_SECRETS_DIR: stage.secretsDir });
  claim("opsctl migrate succeeds", migrated.exitCode === 0);
  return await populate(stage, db);
}

async function populate(stage: Stage, db: TestDatabase): Promise<Scene> {
  await setClock(db.sql, MONDAY, { ticking: true });
  const senders = await seedSenders(db.sql);
  const tenants = await seedTenants(db.sql, TENANTS);
  const peers = await startPeers(db.sql, tenants);
  for (const peer of Object.values(peers)) stage.onClose(() => peer.stop());
  for (const [name, value] of Object.entries(SECRETS)) stage.secret(name, value);

  step("Its customers, and the systems on the other side");
  table(tenants.map(({ name, shows }) => [name, shows]));
  blank();
  say(
    `Application, messaging gateway and e-mail provider are local stand-ins that answer after ${LATENCY_MS} ms and keep a ledger. Secrets are files that only their owner can read. The database's clock shows Monday, 23 November 2026, 08:00 in São Paulo.`,
  );

  const env = {
    OPSCTL_SECRETS_DIR: stage.secretsDir,
    OPSCTL_LOG_DIR: stage.logDir,
    APP_BASE_URL: peers.application.url,
    GATEWAY_URL: peers.gateway.url,
    EMAIL_API_URL: peers.email.url,
    WHATSAPP_REPORT_SENDER_TENANT_ID: senders.whatsappTenantId,
    WEEKLY_REPORT_EMAIL_SENDER_TENANT_ID: senders.emailTenantId,
    SOCIAL_EDITORIALS_ENABLED: "1",
  };
  return {
    sql: db.sql,
    tenants,
    peers,
    logDir: stage.logDir,
    async run(args, options) {
      showCommand(args);
      const ended = await stage.opsctl(args, env, options);
      if (!options?.capture && ended.exitCode !== null) showExit(ended.exitCode);
      return ended;
    },
  };
}

async function firstRun(scene: Scene): Promise<void> {
  step("The weekly run");
  say(
    "One report per owner, then WhatsApp, then e-mail, then the editorials. Two owners cannot be reached on one channel, and the answer to one WhatsApp message gets lost on its way back.",
  );
  const { exitCode } = await scene.run(["weekly", "--concurrency", "3"]);
  claim("a run with failures exits with 1", exitCode === 1);
  await claimFirstRun(scene);
  say(
    "No heartbeat: the summary names what is missing. The one message in doubt is `unknown`, since the gateway may have sent it; opsctl never sends such a message again by itself. The failed network is no failure of the run: its report went out and says so.",
  );
}

function showMessages({ peers, tenants }: Scene): void {
  const first = tenants[0]!;
  const digits = digitsOf(first.owner.phone!);
  step(`What ${first.name} got by WhatsApp`);
  const message = peers.gateway.accepted.find(({ number }) => number === digits);
  claim("the first customer got a message", message !== undefined);
  quote(message!.text);

  step("The e-mails, as files to open in a browser");
  const written = writeEmails(peers.email.accepted, tenants);
  claim("an e-mail file for each accepted e-mail", written.length === peers.email.accepted.length);
  table(written);
}

async function whatIsLeft(scene: Scene): Promise<void> {
  step("What is left for a person to do");
  const failed = await scene.run(["deliveries", "list", "--state", "failed"], { capture: true });
  quote(failed.stdout);
  const [doubtful] = await scene.sql`
    select d.id, u.phone from weekly_performance_deliveries as d join users as u on u.id = d.user_id
    where d.status = 'unknown'`;
  const unknown = await scene.run(["deliveries", "show", doubtful!.id]);
  claim("list and delivery are printed", failed.exitCode === 0 && unknown.exitCode === 0);
  blank();
  say(
    "Somebody corrects the phone and the address, and looks the doubtful message up at the gateway: it was sent, and this is how opsctl learns it.",
  );
  for (const { owner, expected } of scene.tenants) {
    if (expected === "absent") continue;
    if (expected.whatsapp !== "sent") {
      await scene.sql`update users set phone = '+55 48 97777-6666' where id = ${owner.userId}`;
    }
    if (expected.email !== "sent") {
      await scene.sql`update users set email = 'tatiana@amigofiel.example' where id = ${owner.userId}`;
    }
  }
  const digits = digitsOf(doubtful!.phone);
  const message = scene.peers.gateway.accepted.find(({ number }) => number.endsWith(digits));
  claim("the gateway has the doubtful message", message !== undefined);
  const { exitCode } = await scene.run([
    ...["deliveries", "reconcile", doubtful!.id, "--to", "sent", "--provider-message-id", message!.id],
    ...["--reason", "found in the gateway's own log"],
  ]);
  claim("the delivery is reconciled", exitCode === 0);
}

async function secondRun(scene: Scene): Promise<void> {
  step("The same command again");
  say("Everything that is done is reused. Only what was missing is sent.");
  const { gateway, email, application } = scene.peers;
  const before = [gateway.accepted.length, email.accepted.length, application.analyzed.length];
  const { exitCode } = await scene.run(["weekly"]);
  claim("the second run succeeds", exitCode === 0);
  claim(
    "one more message and one more e-mail, no analysis anew",
    taken(scene) === [before[0]! + 1, before[1]! + 1, before[2]].join(" "),
  );
  claim("the heartbeat is written", hasHeartbeat(scene));
  claimNothingTwice(scene);
  blank();
  say("The heartbeat file is written: what watches it knows that this Monday's work is done.");
}

async function tuesday(scene: Scene): Promise<void> {
  step("The same command on a Tuesday");
  await setClock(scene.sql, TUESDAY, { ticking: true });
  const before = taken(scene);
  const { exitCode } = await scene.run(["weekly"]);
  claim("a writing run on a Tuesday is refused", exitCode === 4 && taken(scene) === before);
  blank();
  say("Nothing is written or sent outside Monday in São Paulo, by the database's clock.");
}

function digitsOf(phone: string): string {
  return phone.replace(/\D/g, "");
}
