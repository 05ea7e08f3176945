import { METRIC } from "../../host/metric-names.ts";
import type { Settings } from "../../platform/config/load.ts";
import { OpsError } from "../../platform/errors.ts";
import type { CallRecord } from "../../platform/http/call-peer.ts";
import { type Environment, secretAdapter } from "../../platform/secrets/adapter.ts";
import type { Secret } from "../../platform/secrets/secret.ts";
import { listDeploys, type ProjectDeploy } from "../../providers/vercel/client.ts";
import type { MetricSample } from "../../text/prometheus-text.ts";
import { type MetricSource, type SourceFault, type SourceReading, unread } from "../source.ts";

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
  async read(settings, { env, log, signal }) {
    const expected = settings.HOSTING_PROJECTS;
    // Looked for within the source's limit: a program may have to be started for it.
    const token = await findToken(env);
    if ("problem" in token) return token;
    const onCall = (record: CallRecord) => log.debug("An external service was called", record);
    const account = { ...hostingAccount(settings, token), timeoutMs: CALL_LIMIT_MS, signal, onCall };
    const { projects, total, problem } = await listDeploys(account);
    if (total !== null && total !== expected)
      log.warn("The hosting account has another number of projects than HOSTING_PROJECTS says", {
        ...{ projects: total, expected },
      });
    const samples = projects.length === 0 ? {} : { [METRIC.hostingDeployFailed]: samplesOf(projects) };
    if (problem === null) return { samples, problem };
    const message = `Cannot read the deployments: ${hostingFault(problem).why}`;
    return { samples, problem: { code: problem, message } };
  },
};

/** What a code of the hosting provider means. */
export function hostingFault(code: string): SourceFault {
  return FAULTS[code] ?? OTHER;
}

const REJECTED: SourceFault = {
  why: "the hosting provider rejects HOSTING_TOKEN, or the token has no access to HOSTING_TEAM_ID",
  fix: {
    text: "Set another token, or correct HOSTING_TEAM_ID in collect-metrics.env:",
    command: "opsctl secret set HOSTING_TOKEN",
  },
};

const FAULTS: Readonly<Record<string, SourceFault>> = {
  hosting_http_401: REJECTED,
  hosting_http_403: REJECTED,
  hosting_no_projects: {
    why: "the token sees no project",
    fix: "Set HOSTING_TEAM_ID to the team that owns the projects",
  },
};

const OTHER: SourceFault = {
  why: "the hosting provider does not answer as it should",
  fix: "Check HOSTING_API_URL and the network",
};

type HostingSettings = Settings<never, "HOSTING_API_URL" | "HOSTING_TEAM_ID">;

/** The account as the settings name it. */
export function hostingAccount({ HOSTING_API_URL, HOSTING_TEAM_ID }: HostingSettings, token: Secret) {
  return { baseUrl: new URL(HOSTING_API_URL), token, teamId: HOSTING_TEAM_ID ?? null };
}

async function findToken(env: Environment): Promise<Secret | SourceReading> {
  try {
    const token = await secretAdapter(env)("HOSTING_TOKEN");
    if (token !== undefined) return token;
    return unread("hosting_token_missing", "Cannot read the deployments: HOSTING_TOKEN is missing");
  } catch (error) {
    if (!(error instanceof OpsError)) throw error;
    return unread(error.code, error.message);
  }
}

/** Sorted by name, each once: the agent refuses a file with two samples of one label. */
function samplesOf(projects: readonly ProjectDeploy[]): MetricSample[] {
  return [...new Map(projects.map(({ name, failed }) => [name.toWellFormed(), failed]))]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([project, failed]) => ({ labels: { project }, value: failed ? 1 : 0 }));
}
