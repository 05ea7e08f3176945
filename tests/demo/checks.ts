/** What the demo claims, compared with the database and with what the stand-ins themselves have seen. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type postgres from "postgres";
import type { Alarm } from "./alarm.ts";
import type { Peers } from "./peers.ts";
import type { SeededTenant } from "./seed-tenants.ts";

/** A claim that turned out not to hold. */
export class ClaimFailed extends Error {}

let claims = 0;

/** Claims something; the demo fails when it is not so. */
export function claim(what: string, holds: boolean): void {
  claims += 1;
  if (!holds) throw new ClaimFailed(what);
}

/** How many claims have held so far. */
export function claimsHeld(): number {
  return claims;
}

/** What the claims are about. */
export type Facts = {
  sql: postgres.Sql;
  tenants: SeededTenant[];
  peers: Peers;
  alarm: Alarm;
  logDir: string;
};

/** Whether the success heartbeat exists. */
export function hasHeartbeat({ logDir }: Pick<Facts, "logDir">): boolean {
  return existsSync(join(logDir, "weekly_performance_reports.success"));
}

/** After the run that reached everybody: each delivery is in the state that the story says, and so the peers saw it. */
export async function claimFirstRun(facts: Facts): Promise<void> {
  const { sql, tenants, peers } = facts;
  const rows = await sql`
    select user_id, channel, status, coalesce(error_code, status) as outcome
    from weekly_performance_deliveries`;
  const unknown = rows.filter(({ status }) => status === "unknown");
  claim("exactly one delivery is in doubt, a WhatsApp message", unknown.length === 1);
  for (const { name, owner, expected } of tenants) {
    const own = rows.filter((row) => row.user_id === owner.userId);
    if (expected === "absent") {
      claim(`${name} does not appear`, own.length === 0);
      continue;
    }
    for (const channel of ["whatsapp", "email"] as const) {
      const row = own.find((r) => r.channel === channel);
      const isExpected = row?.outcome === expected[channel] || row === unknown[0];
      claim(`${channel} of ${name} ended as ${expected[channel]}`, row !== undefined && isExpected);
    }
  }
  claimNothingTwice(facts);
  const excluded = tenants.filter(({ expected }) => expected === "absent").map(({ owner }) => owner.tenantId);
  const calls = peers.application.ledger.map(({ rawBody }) => rawBody).join("\n");
  claim("nobody asked about archived or suspended tenants", !excluded.some((id) => calls.includes(id)));
  claim("the drain made four calls", peers.application.routes.editorial.calls.length === 4);
  claim("a run with failures writes no heartbeat", !hasHeartbeat(facts));
}

/** No report that was made lacks a network that the application could have read, and each tried one is named. */
export async function claimNoNetworkLacks({ sql, tenants }: Facts): Promise<void> {
  const lacking = await sql`
    select s.source ->> 'connectionId' as "connectionId", s.source ->> 'code' as code
    from weekly_performance_reports as r
    cross join jsonb_array_elements(r.payload -> 'provenance' -> 'sources') as s (source)
    where s.source ->> 'connectionId' is not null and s.source ->> 'status' <> 'ok'`;
  const made = await sql`select user_id from weekly_performance_reports where status = 'completed'`;
  const refused = tenants
    .filter(({ owner }) => made.some(({ user_id }) => user_id === owner.userId))
    .flatMap(({ findings }) => [...findings])
    .flatMap(([id, { fails }]) => (fails ? [`${id} APP_HTTP_422`] : []));
  const lackingNames = lacking.map(({ connectionId, code }) => `${connectionId} ${code}`);
  claim("no report lacks a network that was only away", lackingNames.join() === refused.join());
}

/** So many messages have reached the operator's phone, and so many issues were made. */
export function claimHeard({ alarm }: Pick<Facts, "alarm">, heard: { messages: number; issues: number }) {
  claim(`the operator has got ${heard.messages} messages`, alarm.gateway.accepted.length === heard.messages);
  claim(`the tracker has ${heard.issues} issue`, alarm.tracker.issues.length === heard.issues);
}

/** Whatever has happened so far, no peer has taken the same message twice, and none was called in an unknown way. */
export function claimNothingTwice({ peers }: Facts): void {
  const { gateway, email, application } = peers;
  const numbers = gateway.accepted.map(({ number }) => number);
  const addresses = email.accepted.map(({ to }) => String(to));
  claim("no number got two messages", new Set(numbers).size === numbers.length);
  claim("no address got two e-mails", new Set(addresses).size === addresses.length);
  claim(
    "every WhatsApp text fits",
    gateway.accepted.every(({ text }) => text.length <= 900),
  );
  const odd = [gateway, email, application].flatMap(({ unexpected }) => unexpected);
  claim("the peers were called on their documented routes only", odd.length === 0);
}

/** How much the peers have taken and worked on; equal before and after a run that had nothing to do. */
export function taken({ peers }: Pick<Facts, "peers">): string {
  const { gateway, email, application } = peers;
  return [gateway.accepted.length, email.accepted.length, application.analyzed.length].join(" ");
}
