/** The webhook behind Debian's nginx, haproxy and Caddy, posted to by its Alertmanager: see `tests/proxies/proxies.ts`. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { findAlertmanager } from "../e2e/support/monitoring-process.ts";
import { PROXY_TOOLS } from "../proxies/proxy.ts";
import { putOnPath } from "../support/debian-tool.ts";
import { endAs, notTried } from "./program.ts";

for (const tool of PROXY_TOOLS) {
  if (!putOnPath(tool)) notTried(`${tool.program} cannot be had`);
  const { stdout, stderr } = spawnSync(tool.program, [tool.versionWord!], { encoding: "utf8" });
  console.log(`${tool.program}: ${(stdout + stderr).split("\n")[0]}`);
}
const alertmanager = findAlertmanager();
if (alertmanager === null) notTried("Alertmanager cannot be had");
console.log(spawnSync(alertmanager, ["--version"], { encoding: "utf8" }).stdout.split("\n")[0]);
await endAs(process.execPath, ["test", "--timeout", "240000", "./tests/proxies/proxies.ts"], {
  cwd: join(import.meta.dirname, "../.."),
});
