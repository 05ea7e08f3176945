import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AcceptedEmail } from "../standins/email-provider.ts";
import type { SeededTenant } from "./seed-tenants.ts";
import { ROOT } from "./stage.ts";

/** Writes the e-mails that the provider took into `.demo/`, and returns their names with those of their customers. */
export function writeEmails(accepted: AcceptedEmail[], tenants: SeededTenant[]): [string, string][] {
  const folder = join(ROOT, ".demo");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const written: [string, string][] = [];
  for (const [i, { name, owner, shows }] of tenants.entries()) {
    const email = accepted.find(({ to }) => String(to) === owner.email);
    if (email === undefined) continue;
    const file = `${String(i + 1).padStart(2, "0")}-${slug(name)}.html`;
    writeFileSync(join(folder, file), email.html ?? "");
    written.push([`.demo/${file}`, shows]);
  }
  return written;
}

/** Writes one more page into `.demo/`, beside the e-mails, and returns its name. */
export function writeHtml(name: string, html: string): string {
  writeFileSync(join(ROOT, ".demo", `${name}.html`), html);
  return `.demo/${name}.html`;
}

function slug(name: string): string {
  const plain = name.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  return plain
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "")
    .slice(0, 30);
}
