import type { Stats } from "node:fs";
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { collectorHealth } from "../../health/collector.ts";
import { METRICS_FILE } from "../../host/metrics-file-name.ts";
import { findTextDirectory } from "../../host/text-directory.ts";
import type { Fix } from "../../platform/errors.ts";
import { octal } from "../../platform/files/modes.ts";
import { readBoundedFile } from "../../platform/files/regular-file.ts";
import { readContainerMemory } from "../../providers/docker/client.ts";
import { countVercelProjects } from "../../providers/vercel/client.ts";
import type { Check } from "../context/check.ts";
import type { CheckContext } from "../context/check-context.ts";
import { asRoot, unseenVerdict } from "../facts/reader.ts";
import { command, fail, notChecked, pass, type Verdict, warn } from "../finding.ts";
import { socketTableCheck } from "./host/socket-table.ts";
import { checkWithSettings } from "./settings/configuration.ts";
import { correctSecret } from "./settings/correct-setting.ts";

const of = "collect-metrics";
/** A metrics file is some kilobytes. */
const MAX_BYTES = 1_048_576;
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
    ({ TEXTFILE_DIR }, context) => fileVerdicts(join(TEXTFILE_DIR, METRICS_FILE), context),
  ),
  {
    ...checkWithSettings(
      { command: of, name: "container", service: "the container engine" },
      { optional: ["PROXY_CONTAINER", "DOCKER_HOST"] },
      async ({ PROXY_CONTAINER: container, DOCKER_HOST: address }, context, signal) => {
        const timeoutMs = context.dependencies.callLimitMs;
        const memory = await readContainerMemory({ address, container, timeoutMs, signal });
        if (memory.status === "ok") return [pass(`container ${container} runs`)];
        const { file } = await context.environment(of);
        return [containerFailure(memory.code, container, { path: file.path, byRoot: asRoot(of, context) })];
      },
    ),
    runsAsRoot: true,
  },
  checkWithSettings(
    { command: of, name: "hosting provider", service: "the hosting provider" },
    { optional: ["HOSTING_API_URL", "HOSTING_TEAM_ID", "HOSTING_PROJECTS"] },
    async (settings, context, signal) => {
      const search = (await context.secrets(of)).find(({ name }) => name === "HOSTING_TOKEN");
      if (search?.error)
        return [notChecked("PREREQUISITE_FAILED", "HOSTING_TOKEN cannot be read, see secrets")];
      const token = search?.found?.secret;
      if (token === undefined)
        return [notChecked("PREREQUISITE_FAILED", "it needs HOSTING_TOKEN, see configuration")];
      const counted = await countVercelProjects({
        baseUrl: new URL(settings.HOSTING_API_URL),
        token,
        teamId: settings.HOSTING_TEAM_ID?.trim() ?? null,
        timeoutMs: context.dependencies.callLimitMs,
        signal,
      });
      if (counted.status === "ok") return [totalVerdict(counted.total, settings.HOSTING_PROJECTS)];
      return [await hostingFailure(context, counted.code)];
    },
  ),
  socketTableCheck(of),
];

async function fileVerdicts(path: string, context: CheckContext): Promise<Verdict[]> {
  const health = (text: string | null) => collectorHealth(text, context.dependencies.nowMs()).lines.flat();
  try {
    const stats = await lstat(path);
    if (stats.isDirectory()) return [IN_THE_WAY];
    if (!stats.isFile()) return [modeVerdict(path, stats), NOT_REGULAR];
    const text = new TextDecoder().decode(readBoundedFile(path, { maxBytes: MAX_BYTES }));
    return [modeVerdict(path, stats), ...health(text)];
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return health(null);
    if (code === "EACCES") return [fail("METRICS_FILE_CLOSED", `${path} is closed to other accounts`, OPEN)];
    return [await unseenVerdict(path, error, of, context)];
  }
}

const OPEN = command(
  "opsctl collect-metrics",
  "Open its directory to others (chmod o+rx), and write it again:",
);
const IN_THE_WAY = fail(
  "METRICS_FILE_UNWRITABLE",
  "a directory is in the place of the metrics file",
  "Remove that directory",
);
const NOT_REGULAR = notChecked(
  "FILE_UNTRUSTED",
  "the last run: the metrics file is no regular file",
  command("opsctl collect-metrics --stdout"),
);

/** Which account reads the file is not known here: it is one of the others. */
function modeVerdict(path: string, { mode }: Stats): Verdict {
  if ((mode & 0o004) !== 0) return pass(`${path} has mode ${octal(mode)}`);
  const reason = `${path} has mode ${octal(mode)}, closed to the monitoring agent`;
  return fail("METRICS_FILE_CLOSED", reason, command("opsctl collect-metrics", "Write it again:"));
}

function containerFailure(
  code: string,
  container: string,
  { path, byRoot }: { path: string; byRoot: Fix },
): Verdict {
  switch (code) {
    case "docker_unreachable":
      return fail(code, `no container engine answers at DOCKER_HOST, or this account may not use it`, {
        ...byRoot,
        text: `Start the engine, or correct DOCKER_HOST in ${path}; where you are not root:`,
      });
    case "docker_container_missing":
      return fail(code, `the engine knows no container ${container}`, `Correct PROXY_CONTAINER in ${path}`);
    case "docker_container_not_running":
      return fail(code, `container ${container} does not run`, "Start it (docker start)");
    case "docker_memory_unknown":
      return fail(
        code,
        `container ${container} runs, and the engine shows no memory of it`,
        "Read the engine's log; a kernel without the memory controller is booted with cgroup_enable=memory",
      );
    default:
      return fail(
        code,
        `the container engine does not answer as it should`,
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
    "Correct HOSTING_PROJECTS if that is right, or set HOSTING_TEAM_ID to the team that owns them",
  );
}

async function hostingFailure(context: CheckContext, code: string): Promise<Verdict> {
  const { file } = await context.environment(of);
  switch (code) {
    case "hosting_http_401":
    case "hosting_http_403": {
      const { text, command: line } = await correctSecret(context, of, "HOSTING_TOKEN");
      const team = `correct HOSTING_TEAM_ID in ${file.path}`;
      return fail(
        code,
        `the hosting provider refuses the token`,
        line === null ? `${text}; or ${team}` : command(line, `Set another token, or ${team}:`),
      );
    }
    case "hosting_no_projects":
      return fail(
        code,
        `the token sees no project`,
        "Set HOSTING_TEAM_ID to the team that owns the projects",
      );
    default:
      return fail(
        code,
        `the hosting provider does not answer as it should`,
        "Check HOSTING_API_URL and the network",
      );
  }
}
