/**
 * What a weekly run needs and may not find: one row for each fault of owners, senders and instance. A fault meets one
 * channel of every report; the other channel sends.
 */
import { randomUUID } from "node:crypto";
import type postgres from "postgres";
import type { Gateway } from "../standins/gateway.ts";

/** What a fault may break, on every harness that has a database and a gateway. */
type FaultyHost = { db: { sql: postgres.Sql }; gateway: Gateway };

/** The settings of the sender tenants; null is a setting that is missing. */
type SenderSettings = { whatsappSenderTenantId?: string | null; emailSenderTenantId?: string | null };

/**
 * One fault.
 *
 * Shape: `code` is that of the dry run, of the real run and, where a row of the ledger is written, of the row; `cause`
 *        is what is behind a code of several causes. `doctor` is the check of `opsctl doctor weekly` that sees the
 *        fault, and its code.
 */
type SetupFault = {
  name: string;
  channel: "whatsapp" | "email";
  code: string;
  cause?: string;
  breaks?: (host: FaultyHost) => unknown;
  /** Settings that are wrong. */
  settings?: SenderSettings;
  /** The fault is the owners' own. */
  ofOwner?: true;
  /** The ledger has no row for it: without a sender there is nothing to claim. */
  unrecorded?: true;
  doctor: [check: string, code: string];
};

/** The address of the e-mail sender as the tests have it. */
const SENDER_ADDRESS = "reports@mail.example";

const phone = (name: string, value: string | null): SetupFault => ({
  ...{ name, channel: "whatsapp", code: "recipient_phone_missing", ofOwner: true },
  breaks: ({ db }) => db.sql`update users set phone = ${value}`,
  doctor: ["recipients", "RECIPIENTS_UNUSABLE"],
});
const address = (name: string, value: string | null): SetupFault => ({
  ...{ name, channel: "email", code: "recipient_email_missing", ofOwner: true },
  breaks: ({ db }) => db.sql`update users set email = ${value}`,
  doctor: ["recipients", "RECIPIENTS_UNUSABLE"],
});
const instance = (name: string, cause: string, breaks: SetupFault["breaks"]): SetupFault => ({
  ...{ name, channel: "whatsapp", code: "sem_instancia_gateway", cause },
  breaks: breaks!,
  doctor: ["whatsapp sender", "sem_instancia_gateway"],
});
const state = (name: string, cause: string, value: string | null) =>
  instance(name, cause, ({ gateway }) => gateway.instances.set("ops", value));
const sender =
  (code: string) =>
  (name: string, email: unknown): SetupFault => ({
    ...{ name, channel: "email", code },
    breaks: ({ db }) => db.sql`update tenant_config set config = ${JSON.stringify({ email })}::text::jsonb`,
    doctor: ["e-mail sender", code],
  });
const noAddress = sender("email_sender_address_missing");
const unverified = sender("email_sender_domain_unverified");
const verified = { verification_status: "verified" };

/** The faults. */
export const SETUP_FAULTS: SetupFault[] = [
  phone("no phone", null),
  phone("an empty phone", "  "),
  phone("a phone of letters", "liga pra mim"),
  phone("two phones", "11 98765-4321 / 11 98765-4322"),
  address("no address", null),
  address("an empty address", ""),
  address("two addresses", "a@client.example, b@client.example"),
  address("an address with a line break", "owner@client.example\nbcc: x@y.example"),
  {
    ...{ name: "no sender tenant for WhatsApp", channel: "whatsapp", code: "sender_tenant_missing" },
    settings: { whatsappSenderTenantId: null },
    unrecorded: true,
    doctor: ["whatsapp sender", "sender_tenant_missing"],
  },
  {
    ...{ name: "no sender tenant for e-mail", channel: "email", code: "email_sender_tenant_missing" },
    settings: { emailSenderTenantId: null },
    unrecorded: true,
    doctor: ["e-mail sender", "email_sender_tenant_missing"],
  },
  {
    ...{ name: "a WhatsApp sender tenant that does not exist", channel: "whatsapp" },
    ...{ code: "sem_instancia_gateway", cause: "sender_instance_missing" },
    settings: { whatsappSenderTenantId: randomUUID() },
    doctor: ["whatsapp sender", "sem_instancia_gateway"],
  },
  {
    ...{ name: "an e-mail sender tenant that does not exist", channel: "email" },
    code: "email_sender_address_missing",
    settings: { emailSenderTenantId: randomUUID() },
    doctor: ["e-mail sender", "email_sender_address_missing"],
  },
  instance(
    "no instance of the sender tenant",
    "sender_instance_missing",
    ({ db }) => db.sql`delete from messaging_instances where instance_name = 'ops'`,
  ),
  instance(
    "an instance with a blank name",
    "sender_instance_missing",
    ({ db }) => db.sql`update messaging_instances set instance_name = ' ' where instance_name = 'ops'`,
  ),
  instance("an instance that the gateway does not know", "instance_missing", ({ gateway }) =>
    gateway.instances.delete("ops"),
  ),
  state("an instance that is closed", "instance_close", "close"),
  state("an instance that waits for its QR code", "instance_connecting", "connecting"),
  state("an instance that is not loaded", "instance_not_loaded", null),
  {
    ...{ name: "a gateway without a licence", channel: "whatsapp", code: "gateway_license_required" },
    breaks: ({ gateway }) => {
      gateway.isLicensed = false;
    },
    doctor: ["whatsapp sender", "gateway_license_required"],
  },
  noAddress("no e-mail sender", undefined),
  {
    ...noAddress("no configuration of the e-mail sender's tenant", undefined),
    breaks: ({ db }) => db.sql`delete from tenant_config`,
  },
  noAddress("an e-mail sender without an address", verified),
  noAddress("an empty sender's address", { address: "", ...verified }),
  noAddress("a sender's address with a name", { address: `A <${SENDER_ADDRESS}>`, ...verified }),
  noAddress("a number for the sender's address", { address: 7, ...verified }),
  noAddress("text in the sender's place", SENDER_ADDRESS),
  noAddress("a list in the sender's place", [SENDER_ADDRESS]),
  unverified("a sender without a status", { address: SENDER_ADDRESS }),
  unverified("a sender that is pending", { address: SENDER_ADDRESS, verification_status: "pending" }),
  unverified("a sender verified in capitals", { address: SENDER_ADDRESS, verification_status: "Verified" }),
  unverified("a sender verified after a blank", {
    address: SENDER_ADDRESS,
    verification_status: " verified",
  }),
  unverified("a sender whose status is true", { address: SENDER_ADDRESS, verification_status: true }),
  unverified("a sender with another key's status", { address: SENDER_ADDRESS, status: "verified" }),
];

/** Puts back what the faults of the table break. */
export async function repairSetup(
  { db: { sql }, gateway }: FaultyHost,
  senders: { whatsappTenantId: string; emailTenantId: string },
  owner: { userId: string; phone: string | null; email: string | null },
): Promise<void> {
  await sql`update users set phone = ${owner.phone}, email = ${owner.email} where id = ${owner.userId}`;
  await sql`delete from messaging_instances where tenant_id = ${senders.whatsappTenantId}`;
  await sql`
    insert into messaging_instances (tenant_id, instance_name) values (${senders.whatsappTenantId}, 'ops')`;
  const config = { email: { address: SENDER_ADDRESS, ...verified } };
  await sql`
    insert into tenant_config (tenant_id, config)
    values (${senders.emailTenantId}, ${JSON.stringify(config)}::text::jsonb)
    on conflict (tenant_id) do update set config = excluded.config`;
  gateway.instances.set("ops", "open");
  gateway.isLicensed = true;
}
