import { METRIC } from "../../host/metric-names.ts";
import { OpsError } from "../../platform/errors.ts";
import type { CallRecord } from "../../platform/http/call-peer.ts";
import { type Environment, notReadByRoot, secretAdapter } from "../../platform/secrets/adapter.ts";
import type { Secret } from "../../platform/secrets/secret.ts";
import { countVercelProjects, listDeploys, type ProjectDeploy } from "../../providers/vercel/client.ts";
import type { MetricSample } from "../../text/prometheus-text.ts";
import type { MetricSource, SourceCheckContext, SourceHealth, SourceProblem } from "../source.ts";

const CALL_LIMIT_MS = 10_000;

/** Whether the newest finished deployment of each project in the account failed. */
export const hosting: MetricSource = {
  name: "hosting",
  help: {
    [METRIC.hostingDeployFailed]:
      "1 when the newest finished deployment of the project failed, 0 when it is ready.",
  },
  limitMs: 16_000,
  settings: ["HOSTING_API_URL", "HOSTING_TEAM_ID", "HOSTING_PROJECTS"],
  async read({ HOSTING_API_URL, HOSTING_TEAM_ID, HOSTING_PROJECTS: expected }, { env, log, signal }) {
    const token = await findToken(env);
    if ("code" in token) return { samples: {}, problem: token };
    const { projects, total, problem, unknownStates } = await listDeploys({
      baseUrl: new URL(HOSTING_API_URL),
      token,
      teamId: HOSTING_TEAM_ID?.trim() ?? null,
      timeoutMs: CALL_LIMIT_MS,
      signal,
      onCall: (record: CallRecord) => log.debug("An external service was called", record),
    });
    for (const state of unknownStates)
      log.warn("The hosting provider shows an unknown deployment state", { state });
    if (total !== null && total !== expected)
      log.warn("The hosting account has another number of projects than HOSTING_PROJECTS says", {
        projects: total,
        expected,
      });
    const samples = projects.length === 0 ? {} : { [METRIC.hostingDeployFailed]: samplesOf(projects) };
    if (problem === null) return { samples, problem };
    const message = `Cannot read the deployments from the hosting provider: ${reasonOf(problem)}`;
    return { samples, problem: { code: problem, message } };
  },
  check: {
    name: "hosting provider",
    service: "the hosting provider",
    secret: "HOSTING_TOKEN",
    async run({ HOSTING_API_URL, HOSTING_TEAM_ID, HOSTING_PROJECTS: expected }, context) {
      const counted = await countVercelProjects({
        baseUrl: new URL(HOSTING_API_URL),
        token: context.secret as Secret,
        teamId: HOSTING_TEAM_ID?.trim() ?? null,
        timeoutMs: context.callLimitMs,
        signal: context.signal,
      });
      if (counted.status !== "ok") return await failure(counted.code, context);
      const { total } = counted;
      const reason = `the hosting provider accepts the token and shows ${total} ${total === 1 ? "project" : "projects"}`;
      if (total === expected) return { status: "pass", reason };
      return {
        ...{ status: "warn", code: "HOSTING_PROJECTS_DIFFER", reason: `${reason}, not ${expected}` },
        fix: "Correct HOSTING_PROJECTS if that is right, or set HOSTING_TEAM_ID to the team that owns them",
      };
    },
  },
};

/** Looked for within the source's limit: a program may have to be started for it. */
async function findToken(env: Environment): Promise<Secret | SourceProblem> {
  try {
    const token = await secretAdapter(env)("HOSTING_TOKEN");
    if (token !== undefined) return token;
    const note = notReadByRoot(env, "HOSTING_TOKEN");
    const message = "Cannot read the deployments: HOSTING_TOKEN is missing";
    return { code: "hosting_token_missing", message: note === null ? message : `${message}; ${note}` };
  } catch (error) {
    if (!(error instanceof OpsError)) throw error;
    return { code: error.code, message: error.message };
  }
}

/** Sorted by name, each once: two names that have the same label are one, failed when either failed. */
function samplesOf(projects: readonly ProjectDeploy[]): MetricSample[] {
  const byName = new Map<string, boolean>();
  for (const { name, failed } of projects) {
    const label = labelOf(name);
    byName.set(label, failed || byName.get(label) === true);
  }
  return [...byName]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([project, failed]) => ({ labels: { project }, value: failed ? 1 : 0 }));
}

// Control characters are legal in a label and of no use; a line feed has an escape of its own.
function labelOf(name: string): string {
  const text = name.toWellFormed().replace(/[^\P{Cc}\n]/gu, "");
  return text.trim() || "?";
}

const REASONS: Readonly<Record<string, string>> = {
  hosting_http_401: "it rejects HOSTING_TOKEN, or the token has no access to HOSTING_TEAM_ID",
  hosting_http_403: "it rejects HOSTING_TOKEN, or the token has no access to HOSTING_TEAM_ID",
  hosting_no_projects: "the token sees no project; set HOSTING_TEAM_ID if a team owns them",
  hosting_pagination_loop: "its listing does not end",
  hosting_answer_unreadable: "an answer is not as documented",
};

function reasonOf(code: string): string {
  return REASONS[code] ?? code.replace(/^hosting_/, "").replaceAll("_", " ");
}

async function failure(
  code: string,
  { settingsFile, replaceSecret }: SourceCheckContext,
): Promise<SourceHealth> {
  const fail = (why: string, fix: Extract<SourceHealth, { fix: unknown }>["fix"]): SourceHealth => {
    return { status: "fail", code, reason: why, fix };
  };
  switch (code) {
    case "hosting_http_401":
    case "hosting_http_403": {
      const { text, command } = await replaceSecret();
      const team = `correct HOSTING_TEAM_ID in ${settingsFile}`;
      const fix =
        command === null ? `${text}; or ${team}` : { command, text: `Set another token, or ${team}:` };
      return fail("the hosting provider rejects the token", fix);
    }
    case "hosting_no_projects":
      return fail("the token sees no project", "Set HOSTING_TEAM_ID to the team that owns the projects");
    default:
      return fail(
        "the hosting provider does not answer as it should",
        "Check HOSTING_API_URL and the network",
      );
  }
}
