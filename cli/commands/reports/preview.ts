/**
 * `opsctl reports preview`: the messages of a tenant's owners, as they were sent or would be.
 *
 * Reads:  `weekly_performance_reports`; for a draft also the application's connections, scores, analyses and the e-mail
 *         mirror. All of it in one transaction that can change nothing.
 * Writes: nothing but the files of `--out`, mode 0600.
 * Calls:  nothing but the database.
 * Env:    DATABASE_URL, APP_BASE_URL (the links), WEEKLY_REPORT_UNSUBSCRIBE (the footer).
 * Exits:  0 done, 1 the content was removed or cannot be read or written, 2 usage, 3 not ready or no eligible owner.
 *
 * JSON:   `command`, `status`, `exitCode`, `previews` (each `week`, `tenantId`, `tenantName`, `userId`, `reportId`,
 *         `source`: `stored` or `draft`, `version`, `subject`, and without `--out` `html`, `text`, `whatsapp`, with it
 *         `files`), `error`. As in all output, secrets and addresses in it are masked; the files are exact.
 */
import { isAbsolute } from "node:path";
import type { Preview } from "../../../lib/weekly/preview.ts";
import { type CommandContext, defineCommand, type ValueCheck } from "../../framework/command.ts";
import { type Outcome, outcomeOf } from "../../framework/outcome.ts";
import { aUuid } from "../../framework/usage/value-checks.ts";
import { VERSION } from "../../framework/version.ts";

/** Started by root, the command has another working directory. */
const anAbsolutePath: ValueCheck = (value) => (isAbsolute(value) ? undefined : "expects an absolute path");

/** The command; see the head of this file. */
export const reportsPreview = defineCommand({
  meta: {
    name: "preview",
    description: "Show the messages of a tenant's report, as they were or would be sent",
  },
  account: "service",
  notes:
    "Of the stored report when there is one, else a draft of what a run would make of the database now. Sends nothing, asks nobody.",
  args: {
    tenant: { type: "string", valueHint: "uuid", required: true, description: "The tenant" },
    week: {
      type: "string",
      valueHint: "YYYY-MM-DD",
      description: "The week that begins on this Monday (default the last closed one)",
    },
    out: {
      type: "string",
      valueHint: "directory",
      description: "Write HTML, text and WhatsApp message here, byte by byte",
    },
    json: { type: "boolean", description: "Print the result as one line of JSON" },
  },
  checks: { tenant: aUuid, out: anAbsolutePath },
  values: { week: "weeks", out: "directories" },
  example:
    "opsctl reports preview --out /tmp/preview \\\n" + "    --tenant 3f2b8c1e-5d47-4a90-9c36-0e1f2a3b4c5d",

  run: (args, context) =>
    preview({ tenantId: args.tenant.toLowerCase(), week: args.week }, args.out, context),
});

async function preview(
  wanted: { tenantId: string; week: string | undefined },
  out: string | undefined,
  { env }: CommandContext,
): Promise<Outcome> {
  const { loadPreviewConfig } = await import("../../../lib/weekly/config.ts");
  const { databaseUrl, ...shown } = await loadPreviewConfig(env);
  const { openDatabase } = await import("../../../lib/platform/database/pool.ts");
  const { previewReports } = await import("../../../lib/weekly/preview.ts");
  const { renderPreviews } = await import("../../../lib/weekly/texts/preview-text.ts");
  const database = await openDatabase(databaseUrl, { max: 1, applicationName: "opsctl reports" });
  try {
    const previews = await previewReports(database.sql, { ...wanted, ...shown, version: VERSION });
    const written = await writeAll(previews, out);
    return outcomeOf({
      command: "reports preview",
      fields: { previews: written.map((each) => fieldsOf(each.preview, each.files)) },
      text: renderPreviews(written, VERSION),
    });
  } finally {
    await database.close();
  }
}

async function writeAll(previews: Preview[], out: string | undefined) {
  if (out === undefined) return previews.map((preview) => ({ preview, files: null }));
  const { writePreviewFiles } = await import("../../../lib/weekly/preview-files.ts");
  return previews.map((preview) => ({ preview, files: writePreviewFiles(out, preview) }));
}

function fieldsOf({ email, whatsapp, ...facts }: Preview, files: string[] | null): object {
  const { subject, html, text } = email;
  return files === null ? { ...facts, subject, html, text, whatsapp } : { ...facts, subject, files };
}
