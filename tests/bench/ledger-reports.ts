/**
 * The statements of many reports as the weekly run makes them, and its calls, bare: what remains when opsctl itself
 * costs nothing. Prints how many reports a second as its only line. Arguments: the database's URL, the peers' URL, the
 * senders' tenants as JSON, how many of them at once.
 *
 * The calls are those of `bare-calls.ts`. Each report stores the same payload, about as long as that of a run
 * over `manyOwners`, and its steps come in the order of a run.
 */
import { createHash, randomUUID } from "node:crypto";
import process from "node:process";
import postgres from "postgres";
import { maskEmail, maskPhone } from "../../lib/text/mask.ts";
import type { Scope } from "../../lib/weekly/database/recipients.ts";
import { weeklyStore } from "../../lib/weekly/database/store.ts";
import { SCHEMA_VERSION } from "../../lib/weekly/payload.ts";
import { PAYLOADS } from "../fixtures/payloads.ts";
import { WEEK } from "../support/seed.ts";
import { bareCalls } from "./bare-calls.ts";

const [databaseUrl, peerUrl, senderTenants, concurrency] = process.argv.slice(2) as [string, ...string[]];
const senders = JSON.parse(senderTenants!) as { whatsappTenantId: string; emailTenantId: string };
const { post, read } = bareCalls(peerUrl!);
const evidence = JSON.stringify(PAYLOADS.full!.channels.instagram);
const fingerprint = createHash("sha256").update(evidence).digest("hex");
const workers = Array.from({ length: Number(concurrency) });
const sql = postgres(databaseUrl, { max: workers.length, fetch_types: false, onnotice: () => {} });
const store = weeklyStore(sql);

const scopes = await sql<Scope[]>`
  select tenant_id as "tenantId", id as "userId" from users where role = 'owner' order by id`;
const count = scopes.length;
await Promise.all(workers.map(() => sql`select 1`));
const startedMs = performance.now();
await Promise.all(workers.map(work));
console.log(count / ((performance.now() - startedMs) / 1000));
process.exit(0);

async function work(): Promise<void> {
  for (let scope = scopes.pop(); scope; scope = scopes.pop()) await report(scope);
}

async function report(scope: Scope): Promise<void> {
  const claim = await store.claimReport(scope, WEEK, SCHEMA_VERSION, randomUUID());
  if (!("token" in claim)) throw new Error(`The report is ${claim.outcome}`);
  await post();
  await post();
  const ids = claim.connections.map(({ id }) => id);
  await store.readEvidence(scope, WEEK, ids);
  const { claim: whatsapp } = await store.persistAndClaimWhatsapp(
    { id: claim.reportId, token: claim.token, scope, window: WEEK },
    { schemaVersion: SCHEMA_VERSION, fingerprint, evidence, payload: payloadOf(scope) },
    senders.whatsappTenantId,
    randomUUID(),
  );
  await read();
  const message = { id: whatsapp.deliveryId, token: tokenOf(whatsapp) };
  await store.dispatchDelivery(message, senders.whatsappTenantId, maskPhone("5511900000001")!);
  await post();
  const { claim: email } = await store.settleAndClaimEmail(
    { delivery: message, result: { status: "sent", providerMessageId: randomUUID(), errorCode: null } },
    claim.reportId,
    scope,
    senders.emailTenantId,
    randomUUID(),
  );
  const letter = { id: email.deliveryId, token: tokenOf(email) };
  await store.dispatchDelivery(letter, senders.emailTenantId, maskEmail("owner@client.example")!);
  await post();
  await store.settleDelivery(letter, { status: "sent", providerMessageId: randomUUID(), errorCode: null });
}

function payloadOf({ tenantId, userId }: Scope): unknown {
  const [windowStart, windowEnd] = [WEEK.start, WEEK.end];
  return { ...PAYLOADS.full, tenantId, userId, windowStart, windowEnd, provenance: { fingerprint } };
}

function tokenOf(claim: object & { outcome: string }): string {
  if (!("token" in claim)) throw new Error(`The delivery is ${claim.outcome}`);
  return claim.token as string;
}
