/** Writes what is generated from the table of settings: `systemd/*.env.example`, the tables of docs/configuration.md. */
import { readFileSync, writeFileSync } from "node:fs";
import { ENV_FILES } from "../../lib/platform/config/settings-table.ts";
import { renderDocs, renderSample } from "./render.ts";

const PAGE = "docs/configuration.md";
for (const file of ENV_FILES) writeFileSync(`systemd/${file}.example`, renderSample(file));
writeFileSync(PAGE, renderDocs(readFileSync(PAGE, "utf8")));
