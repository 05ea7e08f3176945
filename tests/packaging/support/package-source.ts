import { copyFileSync, cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { type Clone, makeClone, type Ran, run } from "../../systemd/support/clone.ts";

const ROOT = join(import.meta.dirname, "../../..");
const DOCUMENTS = ["docs", "README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE"];

/** Makes a clone from which packages can be made; they hold `binary`, or a stand-in for it. The caller removes it. */
export function packageSource(binary?: string): Clone {
  const made = makeClone();
  const dist = join(made.clone, "dist");
  for (const name of ["packaging", ...DOCUMENTS])
    cpSync(join(ROOT, name), join(made.clone, name), { recursive: true });
  copyFileSync(binary ?? join(dist, "opsctl"), join(dist, "opsctl-linux-x64"));
  writeFileSync(join(dist, "opsctl-linux-x64.cdx.json"), "{}\n");
  writeFileSync(join(dist, "third-party-licences.txt"), "licences\n");
  mkdirSync(join(dist, "man"), { recursive: true });
  writeFileSync(join(dist, "man/opsctl.1"), ".TH opsctl 1\n");
  return made;
}

/** Makes a package or tarball of this version at the target; quickly, for a release takes its time. */
export function makePackage(
  { clone }: Clone,
  kind: "deb" | "tarball",
  { version, target, umask = "022" }: { version: string; target: string; umask?: string },
): Ran {
  const script = `umask ${umask}; exec sh packaging/${kind}.sh "$@"`;
  const words = ["-c", script, kind, version, "linux-x64", "dist/opsctl-linux-x64", target];
  const env = { PATH: process.env.PATH, SOURCE_DATE_EPOCH: "1767323045", DEB_COMPRESSION: "gzip" };
  return run("sh", words, { cwd: clone, env });
}
