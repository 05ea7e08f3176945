/**
 * `opsctl reports preview`: the messages of a tenant's owners, as they were sent or would be. All is read in one
 * transaction that can change nothing.
 *
 * Writes: nothing but the files of `--out`, mode 0600.
 * JSON:   `previews` (each `week`, `tenantId`, `tenantName`, `userId`, `reportId`, `source`: `stored` or `draft`,
 *         `version`, `subject`, and without `--out` `html`, `text`, `whatsapp`, with it `files`). As in all output,
 *         secrets and addresses in it are masked; the files are exact.
 */
import { isAbsolute } from "node:path";
import type { Preview } from "../../../lib/weekly/preview.ts";
import { aUuid } from "../../args/checks.ts";
import { option, type ValueCheck } from "../../args/options.ts";
import { defineCommand } from "../../framework/command.ts";
import { VERSION } from "../../framework/version.ts";

/** Started by root, the command has another working directory. */
const anAbsolutePath: ValueCheck = (value) => (isAbsolute(value) ? undefined : "expects an absolute path");

/** The command; see the head of this file. */
export const reportsPreview = defineCommand({
  account: "service",
  notes:
    "Of the stored report when there is one, else a draft of what a run would make of the database now. Sends nothing and calls no service.",
  args: {
    tenant: option("uuid", "The tenant", { required: true, check: aUuid }),
    week: option("YYYY-MM-DD", "The week that begins on this Monday (default the last closed one)", {
      values: "weeks",
    }),
    out: option("directory", "Write HTML, text and WhatsApp message here, byte by byte", {
      values: "directories",
      check: anAbsolutePath,
    }),
  },
  example:
    "opsctl reports preview --out /tmp/preview \\\n" + "    --tenant 3f2b8c1e-5d47-4a90-9c36-0e1f2a3b4c5d",

  async run({ tenant, week, out }, { env }) {
    const { loadPreviewConfig } = await import("../../../lib/weekly/config.ts");
    const { databaseUrl, ...shown } = await loadPreviewConfig(env);
    const { openDatabase } = await import("../../../lib/platform/database/pool.ts");
    const { previewReports } = await import("../../../lib/weekly/preview.ts");
    const { renderPreviews } = await import("../../../lib/weekly/texts/preview-text.ts");
    const database = await openDatabase(databaseUrl, { max: 1, applicationName: "opsctl reports" });
    try {
      const wanted = { tenantId: tenant.toLowerCase(), week, ...shown, version: VERSION };
      const written = await writeAll(await previewReports(database.sql, wanted), out);
      const previews = written.map(({ preview, files }) => fieldsOf(preview, files));
      return { fields: { previews }, text: renderPreviews(written, VERSION) };
    } finally {
      await database.close();
    }
  },
});

async function writeAll(previews: Preview[], out: string | undefined) {
  if (out === undefined) return previews.map((preview) => ({ preview, files: null }));
  const { writePreviewFiles } = await import("../../../lib/weekly/preview-files.ts");
  return previews.map((preview) => ({ preview, files: writePreviewFiles(out, preview) }));
}

function fieldsOf({ email, whatsapp, ...facts }: Preview, files: string[] | null): object {
  const { subject, html, text } = email;
  return files === null ? { ...facts, subject, html, text, whatsapp } : { ...facts, subject, files };
}
