/** Deliveries with an unknown result after a real weekly run, and a way to look them up at the same stand-ins. */
import { afterAll, beforeAll, beforeEach } from "bun:test";
import { whatsappTextOf } from "../../../cli/wiring/ledger/look-up.ts";
import type { LookUp } from "../../../lib/deliveries/look-up/look-up.ts";
import { type LookUpDependencies, lookUpDeliveries } from "../../../lib/deliveries/look-up/run.ts";
import { type Database, openDatabase } from "../../../lib/platform/database/pool.ts";
import { createProgress } from "../../../lib/platform/log/progress.ts";
import { rateLimiter } from "../../../lib/platform/rate/rate-limiter.ts";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { messageFinder } from "../../../lib/providers/evolution/find-messages.ts";
import { sentEmails } from "../../../lib/providers/resend/sent-emails.ts";
import type { EmailProviderOptions } from "../../standins/email-provider.ts";
import { CANARIES } from "../../support/canaries.ts";
import { MONDAY, type OwnerSpec, type SeededOwner, seedOwner } from "../../support/seed.ts";
import { sharedWeekly } from "../../weekly/support/shared-weekly.ts";
import type { WeeklyFixture } from "../../weekly/support/weekly-fixture.ts";

/** The key that reads what was sent. */
const READ_KEY = "re_canary_read_key_77aa";

/** How a look-up of the fixture differs from the usual one. */
export type LookUpOptions = {
  ids?: string[] | null;
  settleAs?: string | null;
  emailKey?: string;
  timeoutMs?: number;
  dependencies?: Partial<LookUpDependencies>;
};

/** The fixture: a weekly run, and look-ups after it. */
export type LookUpFixture = {
  weekly: WeeklyFixture;
  /** Seeds an owner, runs with every send of these channels accepted and unanswered, and returns the ids of the unknown ones. */
  leaveUnknown(
    channels: ("whatsapp" | "email")[],
    owners?: OwnerSpec[],
  ): Promise<{ owner: SeededOwner; ids: string[] }[]>;
  lookUp(options?: LookUpOptions): Promise<LookUp[]>;
};

/** The instant of every send: a little after the dispatch, which is the database's standing clock. */
export const SENT_AT = new Date(Date.parse(MONDAY) + 3_400);

/** A short limit for a peer that hangs, and none of their own for those that answer. */
export function limitOf(scripted: unknown): { timeoutMs?: number } {
  return scripted === "hang" ? { timeoutMs: 1_000 } : {};
}

/** Registers the fixture for the tests of a file. */
export function lookUpFixture(email: Partial<EmailProviderOptions> = {}): () => LookUpFixture {
  const shared = sharedWeekly({ email: { readKey: READ_KEY, ...email } });
  let database: Database;
  beforeAll(async () => {
    database = await openDatabase(new Secret(shared().db.url), { max: 1, applicationName: "opsctl-test" });
  });
  beforeEach(() => {
    for (const peer of [shared().gateway, shared().email]) peer.now = () => SENT_AT;
  });
  afterAll(async () => await database.close());
  return () => {
    const weekly = shared();
    return {
      weekly,
      leaveUnknown: (channels, owners = [{}]) => runWithLostAnswers(weekly, channels, owners),
      lookUp: ({ ids = null, settleAs = null, dependencies, ...options } = {}) =>
        lookUpDeliveries(
          { ...dependenciesOf(weekly, database, options), ...dependencies },
          { ids, settleAs },
        ),
    };
  };
}

async function runWithLostAnswers(
  weekly: WeeklyFixture,
  channels: ("whatsapp" | "email")[],
  specs: OwnerSpec[],
): Promise<{ owner: SeededOwner; ids: string[] }[]> {
  const { db, gateway, email } = weekly;
  const owners: SeededOwner[] = [];
  for (const spec of specs) owners.push(await seedOwner(db.sql, { networks: [], ...spec }));
  gateway.routes.send.script = channels.includes("whatsapp") ? () => ({ accept: "drop" }) : null;
  email.routes.send.script = channels.includes("email") ? () => ({ accept: "drop" }) : null;
  await weekly.run();
  for (const route of [gateway.routes.send, email.routes.send]) route.script = null;
  const rows = await db.sql<{ id: string; userId: string }[]>`
    select id, user_id as "userId" from weekly_performance_deliveries where status = 'unknown' order by channel desc`;
  return owners.map((owner) => ({
    owner,
    ids: rows.filter(({ userId }) => userId === owner.userId).map(({ id }) => id),
  }));
}

function dependenciesOf(
  { gateway, email }: WeeklyFixture,
  { sql }: Database,
  { emailKey = READ_KEY, timeoutMs }: Pick<LookUpOptions, "emailKey" | "timeoutMs">,
): LookUpDependencies {
  const limit = timeoutMs === undefined ? {} : { timeoutMs };
  const adminKey = new Secret(CANARIES.GATEWAY_ADMIN_KEY);
  return {
    sql,
    whatsapp: {
      find: messageFinder({ baseUrl: new URL(gateway.url), adminKey, ...limit }),
      renderText: whatsappTextOf("https://app.example"),
    },
    email: sentEmails({
      baseUrl: new URL(email.url),
      apiKey: new Secret(emailKey),
      rate: rateLimiter({ perSecond: null }),
      ...limit,
    }),
    interrupt: new AbortController().signal,
    progress: createProgress({ stream: { write() {} }, enabled: false }),
  };
}
