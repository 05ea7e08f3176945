/**
 * Writes the man pages and the completion scripts to `<folder>/man` and `<folder>/completions`, for `make man`.
 *
 * Behaviour: the bytes depend only on the sources and on SOURCE_DATE_EPOCH. Removes the pages of commands that no
 *            longer exist.
 */
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "../../cli/root.ts";
import { manPages, pageName } from "./pages.ts";

const SCRIPTS = fileURLToPath(new URL("../../cli/completion/scripts/", import.meta.url).href);

/** The scripts, by the names under which the shells look for them. */
const COMPLETIONS = { "opsctl.bash": "opsctl.bash", "opsctl.zsh": "_opsctl", "opsctl.fish": "opsctl.fish" };

const [folder = "dist"] = process.argv.slice(2);
const date = new Date(Number(process.env.SOURCE_DATE_EPOCH ?? 0) * 1000).toISOString().slice(0, 10);

const man = fresh(join(folder, "man"));
for (const { path, text } of await manPages("opsctl", root, date))
  writeFileSync(join(man, `${pageName(path)}.1`), text);

const completions = fresh(join(folder, "completions"));
for (const [source, name] of Object.entries(COMPLETIONS))
  copyFileSync(join(SCRIPTS, source), join(completions, name));

function fresh(path: string): string {
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path, { recursive: true });
  return path;
}
