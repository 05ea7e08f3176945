import { boundedLine } from "../../text/truncate.ts";
import type { Preview } from "../preview.ts";

/** A tenant's name in a heading. */
const NAME_COLUMNS = 60;

/** Every control character but the line break: a terminal would obey it. */
const CONTROLS = /[^\P{Cc}\n]/gu;

/** A preview and the files that it was written to; null when it is to be printed. */
export type WrittenPreview = { preview: Preview; files: string[] | null };

/** Previews for people: where the files are, or the texts themselves. */
export function renderPreviews(written: readonly WrittenPreview[], version: string): string {
  return written.map(({ preview, files }) => heading(preview, version) + content(preview, files)).join("\n");
}

function heading(
  { tenantName, week, userId, source, reportId, version, email }: Preview,
  own: string,
): string {
  const name = boundedLine(tenantName ?? "", NAME_COLUMNS) || "Tenant without a name";
  const what =
    source === "stored"
      ? `Stored report ${reportId}: what was sent, or will be.`
      : "DRAFT: no report is stored; this is what a run would make of the database as it is now.";
  const made =
    version === own ? "" : `Made by opsctl ${version}; this is ${own}, which may word things differently.\n`;
  return `${name}, user ${userId}, week of ${week}\n${what}\n${made}Subject: ${email.subject}\n`;
}

function content({ whatsapp, email }: Preview, files: string[] | null): string {
  if (files !== null) return files.map((path) => `  ${path}\n`).join("");
  return [
    `\n--- WhatsApp ---\n${plain(whatsapp ?? "Cannot be sent: its fixed parts are too long (message_too_long)")}\n`,
    `\n--- E-mail, plain part ---\n${plain(email.text).trimEnd()}\n`,
    "\nThe HTML part, and all of it byte by byte: add --out <directory>\n",
  ].join("");
}

function plain(text: string): string {
  return text.replace(CONTROLS, "");
}
