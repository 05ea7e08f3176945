import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { type CheckResult, command, fail, notChecked, pass, warn } from "../../health/result.ts";
import { METRICS_FILE } from "../../host/metric-names.ts";
import { findTextDirectory } from "../../host/text-directory.ts";
import { hostingAccount, hostingFault } from "../../metrics/sources/hosting.ts";
import { engineFault } from "../../metrics/sources/proxy-memory.ts";
import { octal } from "../../platform/files/directory-fault.ts";
import { readContainerMemory } from "../../providers/docker/client.ts";
import { countVercelProjects } from "../../providers/vercel/client.ts";
import type { Check } from "../context.ts";
import { socketTableCheck } from "./host.ts";
import { checkWithSettings } from "./settings.ts";
import { statusCheck } from "./status.ts";

const of = "collect-metrics";

/** What the collector needs besides its settings: its directory, its file, and its sources. */
export const COLLECT_CHECKS: readonly Check[] = [
  {
    ...checkWithSettings(
      { command: of, name: "text-file directory" },
      { optional: ["TEXTFILE_DIR"] },
      async ({ TEXTFILE_DIR }) => {
        findTextDirectory(TEXTFILE_DIR);
        return [pass(`${TEXTFILE_DIR} is there`)];
      },
    ),
    runsAsRoot: true,
  },
  checkWithSettings(
    { command: of, name: "metrics file" },
    { optional: ["TEXTFILE_DIR"] },
    async ({ TEXTFILE_DIR }) => await modeResults(join(TEXTFILE_DIR, METRICS_FILE)),
  ),
  statusCheck(of),
  {
    ...checkWithSettings(
      { command: of, name: "container", service: "the container engine" },
      { optional: ["PROXY_CONTAINER", "DOCKER_HOST"] },
      async ({ PROXY_CONTAINER: container, DOCKER_HOST: address }, { dependencies }, signal) => {
        const call = { address, container, timeoutMs: dependencies.callLimitMs, signal };
        const memory = await readContainerMemory(call);
        if (memory.status === "ok") return [pass(`container ${container} runs`)];
        const { why, fix } = engineFault(memory.code);
        return [fail(memory.code, why, fix)];
      },
    ),
    runsAsRoot: true,
  },
  checkWithSettings(
    { command: of, name: "hosting provider", service: "the hosting provider" },
    { optional: ["HOSTING_API_URL", "HOSTING_TEAM_ID", "HOSTING_PROJECTS"] },
    async (settings, context, signal) => {
      // Root has looked for it: the account would look elsewhere.
      const token = (await context.secrets(of)).find(({ name }) => name === "HOSTING_TOKEN");
      if (!token?.found) return [token?.error ? UNREAD_TOKEN : NO_TOKEN];
      const account = hostingAccount(settings, token.found.secret);
      const timeoutMs = context.dependencies.callLimitMs;
      const counted = await countVercelProjects({ ...account, timeoutMs, signal });
      if (counted.status !== "ok") {
        const { why, fix } = hostingFault(counted.code);
        return [fail(counted.code, why, fix)];
      }
      const [{ total }, expected] = [counted, settings.HOSTING_PROJECTS];
      const shown = `the hosting provider accepts the token and shows ${total} ${total === 1 ? "project" : "projects"}`;
      if (total === expected) return [pass(shown)];
      return [warn("HOSTING_PROJECTS_DIFFER", `${shown}, not ${expected}`, CORRECT_PROJECTS)];
    },
  ),
  socketTableCheck(of),
];

const NO_TOKEN = notChecked("PREREQUISITE_FAILED", "it needs HOSTING_TOKEN, see configuration");
const UNREAD_TOKEN = notChecked("PREREQUISITE_FAILED", "it needs HOSTING_TOKEN, see secrets");
const CORRECT_PROJECTS =
  "Correct HOSTING_PROJECTS if that is right, or set HOSTING_TEAM_ID to the team that owns them";

/** Which account reads the file is not known here: it is one of the others. */
async function modeResults(path: string): Promise<CheckResult[]> {
  const found = await lstat(path).catch(({ code }: NodeJS.ErrnoException) => code);
  if (found === "EACCES") return [fail("METRICS_FILE_CLOSED", `${path} is closed to other accounts`, OPEN)];
  if (typeof found !== "object") return [];
  const reason = `${path} has mode ${octal(found.mode)}`;
  if ((found.mode & 0o004) !== 0) return [pass(reason)];
  return [fail("METRICS_FILE_CLOSED", `${reason}, closed to the monitoring agent`, OPEN)];
}

const OPEN = command(
  "opsctl collect-metrics",
  "Open its directory to others (chmod o+rx), and write it again:",
);
