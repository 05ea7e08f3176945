import type { PartName } from "../platform/config/settings-table.ts";
import { OpsError } from "../platform/errors.ts";
import { isRoot, wasRoot } from "../platform/privileges.ts";
import { webhookPorts } from "../webhook/config.ts";
import { fileHealth } from "./files.ts";
import { type Health, type Look, notChecked, only } from "./result.ts";
import { readWebhookHealth } from "./webhook.ts";
import { type Ledger, weeklyHealth } from "./weekly.ts";

/** A look at any part; `limitMs` is the time of a call. */
export type PartLook = Look & { limitMs: number; readLedger(): Promise<Ledger> };

/**
 * The health of a part, for status and doctor alike; a file that cannot be read is a result, too.
 *
 * Errors: CONFIG_INVALID about its directory, and those of `readLedger`.
 */
export async function readHealth(part: PartName, look: PartLook, signal: AbortSignal): Promise<Health> {
  try {
    if (part === "weekly") return await weeklyHealth(await look.readLedger(), look);
    if (part === "webhook") return await readWebhookHealth(await webhookPorts(look.env), look, signal);
    return await fileHealth(part, look);
  } catch (error) {
    const { code, path = "what its last run left" } = error as NodeJS.ErrnoException;
    if (error instanceof OpsError || typeof code !== "string") throw error;
    const fix = isRoot() || wasRoot() ? "Look at it (ls -ld)" : "Look at it (ls -ld), or look as root";
    const unread = notChecked("FILE_UNREADABLE", `${path} cannot be read: ${code}`, fix);
    return only(["EACCES", "EPERM"].includes(code) ? { ...unread, needsRoot: true } : unread);
  }
}
