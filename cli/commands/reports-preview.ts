import { isAbsolute } from "node:path";
import { aUuid, option } from "../args/options.ts";
import { defineCommand } from "../framework/command.ts";
import { VERSION } from "../framework/version.ts";
import { WEEK } from "./reports.ts";

/** `opsctl reports preview`: the messages of a tenant's owners. The files of `--out`, mode 0600, are exact. */
export const reportsPreview = defineCommand({
  notes:
    "Of the stored report when there is one, else a draft of what a run would make of the database now. Sends nothing and calls no service.",
  args: {
    tenant: option("uuid", "The tenant", { required: true, check: aUuid }),
    week: WEEK,
    out: option("directory", "Write HTML, text and WhatsApp message here, byte by byte", {
      values: "directories",
      // Started by root, the command has another working directory.
      check: (value) => (isAbsolute(value) ? undefined : "expects an absolute path"),
    }),
  },
  example:
    "opsctl reports preview --out /tmp/preview \\\n" + "    --tenant 3f2b8c1e-5d47-4a90-9c36-0e1f2a3b4c5d",

  async run({ tenant, week, out }, { env }) {
    const { loadPreviewConfig } = await import("../../lib/weekly/config.ts");
    const { databaseUrl, ...shown } = await loadPreviewConfig(env);
    const { openDatabase } = await import("../../lib/platform/database/pool.ts");
    const { previewReports } = await import("../../lib/weekly/preview.ts");
    const { renderPreviews } = await import("../../lib/weekly/texts/preview-text.ts");
    const { writePreviewFiles } = await import("../../lib/weekly/preview-files.ts");
    const database = await openDatabase(databaseUrl, { max: 1, applicationName: "opsctl" });
    try {
      const wanted = { tenantId: tenant.toLowerCase(), week, ...shown, version: VERSION };
      const written = (await previewReports(database.sql, wanted)).map((preview) => ({
        preview,
        files: out === undefined ? null : writePreviewFiles(out, preview),
      }));
      const previews = written.map(({ preview: { email, whatsapp, ...facts }, files }) => {
        const { subject, html, text } = email;
        return files === null ? { ...facts, subject, html, text, whatsapp } : { ...facts, subject, files };
      });
      return { fields: { previews }, text: renderPreviews(written, VERSION) };
    } finally {
      await database.close();
    }
  },
});
