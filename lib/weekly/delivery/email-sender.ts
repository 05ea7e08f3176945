import * as v from "valibot";
import { normalizeEmail } from "../../text/email-address.ts";

/** The central sender, or the code of why it cannot send. */
export type EmailSender =
  | { status: "ready"; address: string; fromName: string | null; replyTo: string | null }
  | { status: "failed"; code: "email_sender_address_missing" | "email_sender_domain_unverified" };

const senderSchema = v.object({
  address: v.optional(v.unknown()),
  fromName: v.optional(v.unknown()),
  replyTo: v.optional(v.unknown()),
  verification_status: v.optional(v.unknown()),
});

/** Reads `tenant_config.config.email`: only an address that is exactly `verified` may send. */
export function emailSenderOf(config: unknown): EmailSender {
  const parsed = v.safeParse(senderSchema, config);
  const text = (value: unknown) => (typeof value === "string" ? value : null);
  const address = parsed.success ? normalizeEmail(text(parsed.output.address)) : null;
  if (!parsed.success || address === null) return { status: "failed", code: "email_sender_address_missing" };
  if (parsed.output.verification_status !== "verified") {
    return { status: "failed", code: "email_sender_domain_unverified" };
  }
  return {
    status: "ready",
    address,
    fromName: text(parsed.output.fromName),
    replyTo: normalizeEmail(text(parsed.output.replyTo)),
  };
}
