import type { WeeklyOptions } from "../context/dependencies.ts";

/** The options that decide what a run uses. */
type Parts = Pick<WeeklyOptions, "tenantId" | "skipWhatsapp" | "skipEmail" | "skipEditorials" | "editorials">;

/** What a dry run with these options cannot prove, because the only proof is a call that has an effect. */
export function unprovedBy(parts: Parts): string[] {
  const { tenantId, skipWhatsapp, skipEmail, skipEditorials, editorials } = parts;
  const drains = editorials.enabled && !skipEditorials && tenantId === null;
  return [
    "trigger_secret_unproved",
    ...(drains ? ["editorial_secret_unproved"] : []),
    ...(skipWhatsapp ? [] : ["whatsapp_numbers_unproved"]),
    ...(skipEmail ? [] : ["email_sender_unproved"]),
  ];
}
