import type { Stats } from "node:fs";
import { lstat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { METRICS_FILE } from "../../host/metrics-file-name.ts";
import { findTextDirectory } from "../../host/text-directory.ts";
import { type CollectConfig, loadCollectConfig } from "../../metrics/config.ts";
import { failedSources, lastPassMs, STALE_PASS_MS } from "../../metrics/last-pass.ts";
import { isRoot, trustedUids } from "../../platform/account/account.ts";
import { OpsError } from "../../platform/errors.ts";
import { octal } from "../../platform/files/modes.ts";
import { readJudged } from "../../platform/files/regular-file.ts";
import { untrustedEnd, untrustedStep, wayTo } from "../../platform/files/trusted-path.ts";
import { readContainerMemory } from "../../providers/docker/client.ts";
import { countVercelProjects } from "../../providers/vercel/client.ts";
import { isToCome } from "../../time/to-come.ts";
import { isExchangeableByOthers } from "../advice/exchangeable.ts";
import type { Check } from "../context/check.ts";
import type { CheckContext, Settings } from "../context/check-context.ts";
import { accessOf, directoryCode, directoryLine } from "../facts/access.ts";
import type { Account } from "../facts/accounts.ts";
import { asRoot, unseenVerdict } from "../facts/reader.ts";
import { fail, notChecked, pass, SET_CLOCK, type Verdict, warn } from "../finding.ts";
import { socketTableCheck } from "./host/socket-table.ts";
import { checkWithSettings, withoutSettings } from "./settings/configuration.ts";
import { correctSecret } from "./settings/correct-setting.ts";

const command = "collect-metrics";
/** An account that is neither the owner nor in the group, such as the monitoring agent's. */
const OTHERS: Account = { name: "the monitoring agent", uid: -1, gids: [] };
/** The commands that show why cron has not run the collector. */
const CRON =
  "grep opsctl /etc/cron.d/opsctl; systemctl status cron; tail /var/log/opsctl/collect-metrics.log";

/** What the collector needs besides its settings: its directory, its file, and its sources. */
export const COLLECT_CHECKS: readonly Check[] = [
  checkWithSettings({ command, name: "text-file directory" }, settingsOf, async (settings, context) => {
    const { textfileDir } = settings;
    const access = await accessOf(textfileDir, OTHERS, "list");
    if (access.status === "allowed") return [trustVerdict(textfileDir)];
    if (access.why === "hidden") return [unseenVerdict(access.at, access.error, command, context)];
    const mend =
      access.why === "closed" ? `chmod o+rx ${access.at}` : directoryLine(access, textfileDir, "-m 0755");
    return [fail(directoryCode(access), access.text, stableLine(mend, access.at))];
  }),
  checkWithSettings({ command, name: "metrics file" }, settingsOf, async (settings, context) => {
    return await fileVerdicts(join(settings.textfileDir, METRICS_FILE), context);
  }),
  checkWithSettings({ command, name: "container" }, settingsOf, async (settings, context, signal) => {
    const { container, address } = settings.proxy;
    const timeoutMs = context.dependencies.callLimitMs;
    const memory = await readContainerMemory({ address, container, timeoutMs, signal });
    if (memory.status === "ok") return [pass(`container ${container} runs`)];
    const { file } = await context.environment(command);
    return [containerFailure(memory.code, container, { path: file.path, byRoot: asRoot(command, context) })];
  }),
  checkWithSettings({ command, name: "hosting provider" }, settingsOf, async (settings, context, signal) => {
    const { apiUrl, teamId, projects } = settings.hosting;
    const search = (await context.secrets(command)).find(({ name }) => name === "HOSTING_TOKEN");
    if (search?.error)
      return [notChecked("PREREQUISITE_FAILED", "HOSTING_TOKEN cannot be read, see secrets")];
    const token = search?.found;
    if (!token) return withoutSettings(command);
    const timeoutMs = context.dependencies.callLimitMs;
    const options = { baseUrl: new URL(apiUrl), token: token.secret, teamId, timeoutMs, signal };
    const counted = await countVercelProjects(options);
    if (counted.status === "ok") return [totalVerdict(counted.total, projects)];
    return [await hostingFailure(context, counted.code)];
  }),
  socketTableCheck(command),
];

/** A line about a path, unless an account that root does not trust could lead it elsewhere meanwhile. */
function stableLine(line: string, path: string): string {
  return isExchangeableByOthers(path, trustedUids())
    ? `Set TEXTFILE_DIR to a directory that no other account can exchange; whose this one is: ls -ld ${dirname(path)}`
    : line;
}

/** Whether the collector trusts the directory: otherwise it writes nothing there. */
function trustVerdict(textfileDir: string): Verdict {
  try {
    findTextDirectory(textfileDir);
    return pass(`${textfileDir} can be read by ${OTHERS.name}`);
  } catch (error) {
    if (error instanceof OpsError) return fail(error.code, error.message, error.hint ?? null);
    throw error;
  }
}

/** Without the token, which one of the sources needs. */
function settingsOf(context: CheckContext): Promise<Settings<CollectConfig>> {
  return context.settings(command, "without token", loadCollectConfig);
}

async function fileVerdicts(path: string, context: CheckContext): Promise<Verdict[]> {
  const nowMs = context.dependencies.nowMs();
  try {
    const stats = await lstat(path);
    if (stats.isDirectory())
      return [
        fail(
          "METRICS_FILE_UNWRITABLE",
          `${path} is a directory: the collector cannot write there`,
          `rmdir ${path}`,
        ),
      ];
    const foreign = foreignness(path, stats);
    if (foreign !== null) return [modeVerdict(path, stats), ageVerdict("", stats, nowMs), notOpened(foreign)];
    const text = new TextDecoder().decode(readJudged(path, () => {}));
    return [modeVerdict(path, stats), ageVerdict(text, stats, nowMs), ...sourceVerdicts(text)];
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT")
      return [warn("LAST_RUN_MISSING", `${path} does not exist: the collector has not run yet`, CRON)];
    return [unseenVerdict(path, error, command, context)];
  }
}

/** Why the file is not opened: another account could make root read any file through it. */
function foreignness(path: string, stats: Stats): string | null {
  if (!stats.isFile()) return `${path} is no regular file`;
  if (!isRoot()) return null;
  const { steps } = wayTo(path);
  const directory = steps.at(-1);
  // In a sticky directory the file itself may belong to another account.
  const found = untrustedStep(steps, trustedUids()) ?? (directory && untrustedEnd(directory, trustedUids()));
  return found?.why ?? null;
}

function notOpened(why: string): Verdict {
  return notChecked(
    "FILE_UNTRUSTED",
    `which sources the last run could read: ${why}`,
    "opsctl collect-metrics --stdout says it",
  );
}

function modeVerdict(path: string, { mode }: Stats): Verdict {
  if ((mode & 0o004) !== 0) return pass(`${path} has mode ${octal(mode)}`);
  // Where another account could put a link in the file's place, root changes nothing: the collector writes the file
  // anew.
  const mend = isExchangeableByOthers(path, trustedUids()) ? "opsctl collect-metrics" : `chmod 0644 ${path}`;
  return fail("METRICS_FILE_CLOSED", `${path} has mode ${octal(mode)}, closed to ${OTHERS.name}`, mend);
}

function ageVerdict(text: string, { mtimeMs }: Stats, nowMs: number): Verdict {
  const lastMs = lastPassMs(text) ?? mtimeMs;
  const seconds = Math.round((nowMs - lastMs) / 1000);
  if (isToCome(nowMs - lastMs))
    return fail(
      "CLOCK_WRONG",
      `the last run is said to be ${-seconds} s to come: a clock was wrong`,
      SET_CLOCK,
    );
  const reason = `the last run was ${Math.max(0, seconds)} s ago`;
  return nowMs - lastMs > STALE_PASS_MS ? fail("LAST_RUN_STALE", reason, CRON) : pass(reason);
}

function sourceVerdicts(text: string): Verdict[] {
  return failedSources(text).map((source) =>
    warn(
      "SOURCE_FAILED",
      `the last run could not read its source ${source}`,
      "opsctl collect-metrics --stdout",
    ),
  );
}

function containerFailure(
  code: string,
  container: string,
  { path, byRoot }: { path: string; byRoot: string },
): Verdict {
  switch (code) {
    case "docker_unreachable":
      return fail(
        code,
        `${code}: no container engine answers at DOCKER_HOST, or this account may not use it`,
        `Start the engine, or correct DOCKER_HOST in ${path}; where you are not root: ${byRoot}`,
      );
    case "docker_container_missing":
      return fail(
        code,
        `${code}: the engine knows no container ${container}`,
        `Correct PROXY_CONTAINER in ${path}`,
      );
    case "docker_container_not_running":
      return fail(code, `${code}: container ${container} does not run`, `docker start ${container}`);
    case "docker_memory_unknown":
      return fail(
        code,
        `${code}: container ${container} runs, and the engine shows no memory of it`,
        "Read the engine's log; a kernel without the memory controller is booted with cgroup_enable=memory",
      );
    default:
      return fail(
        code,
        `${code}: the container engine does not answer as it should`,
        `Read the engine's log, and check DOCKER_HOST in ${path}`,
      );
  }
}

function totalVerdict(total: number, expected: number): Verdict {
  const shown = `the hosting provider takes the token and shows ${total} ${total === 1 ? "project" : "projects"}`;
  if (total === expected) return pass(shown);
  return warn(
    "HOSTING_PROJECTS_DIFFER",
    `${shown}, not ${expected}`,
    `Set HOSTING_PROJECTS=${total} if that is right, or HOSTING_TEAM_ID to the team that owns them`,
  );
}

async function hostingFailure(context: CheckContext, code: string): Promise<Verdict> {
  const { file } = await context.environment(command);
  switch (code) {
    case "hosting_http_401":
    case "hosting_http_403":
      return fail(
        code,
        `${code}: the hosting provider refuses the token`,
        `${await correctSecret(context, command, "HOSTING_TOKEN")}; or correct HOSTING_TEAM_ID in ${file.path}`,
      );
    case "hosting_no_projects":
      return fail(
        code,
        `${code}: the token sees no project`,
        "Set HOSTING_TEAM_ID to the team that owns the projects",
      );
    default:
      return fail(
        code,
        `${code}: the hosting provider does not answer as it should`,
        "Check HOSTING_API_URL and the network",
      );
  }
}
