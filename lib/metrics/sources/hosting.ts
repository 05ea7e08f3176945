import { METRIC } from "../../host/metric-names.ts";
import { OpsError } from "../../platform/errors.ts";
import type { CallRecord } from "../../platform/http/call-peer.ts";
import type { Secret } from "../../platform/secrets/secret.ts";
import { listDeploys, type ProjectDeploy } from "../../providers/vercel/client.ts";
import type { MetricSample } from "../../text/prometheus-text.ts";
import type { Source, SourceProblem } from "../source.ts";

/**
 * What the hosting source needs; `findToken` is called within the source's limit, `missingNote` names a token that root
 * did not read.
 */
export type HostingOptions = {
  baseUrl: URL;
  teamId: string | null;
  findToken: () => Promise<Secret | undefined>;
  missingNote?: () => string | null;
  timeoutMs: number;
  onUnknownState: (state: string) => void;
  /** Called with the number of projects of the account, each time it is known. */
  onTotal: (projects: number) => void;
  onCall?: ((record: CallRecord) => void) | undefined;
};

/** Whether the newest finished deployment of each project in the account failed. */
export function hostingSource(options: HostingOptions): Source {
  return async (signal) => {
    const found = await token(options);
    if (found.status !== "found") return { samples: {}, problem: found.problem };
    const { projects, total, problem, unknownStates } = await listDeploys({
      ...options,
      token: found.token,
      signal,
    });
    for (const state of unknownStates) options.onUnknownState(state);
    if (total !== null) options.onTotal(total);
    const samples = projects.length === 0 ? {} : { [METRIC.hostingDeployFailed]: samplesOf(projects) };
    return { samples, problem: problem === null ? null : { code: problem, message: messageOf(problem) } };
  };
}

type FoundToken = { status: "found"; token: Secret } | { status: "failed"; problem: SourceProblem };

async function token({ findToken, missingNote }: HostingOptions): Promise<FoundToken> {
  try {
    const token = await findToken();
    if (token !== undefined) return { status: "found", token };
    const message = "Cannot ask the hosting provider: HOSTING_TOKEN is missing";
    const note = missingNote?.() ?? null;
    return failed(
      "hosting_token_missing",
      note === null ? message : `${message}; ${note}, where make install moves it`,
    );
  } catch (error) {
    if (!(error instanceof OpsError)) throw error;
    return failed(error.code, error.message);
  }
}

function failed(code: string, message: string): FoundToken {
  return { status: "failed", problem: { code, message } };
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
  return (
    name
      .toWellFormed()
      .replace(/[^\P{Cc}\n]/gu, "")
      .trim() || "?"
  );
}

function messageOf(code: string): string {
  const what = "Cannot read the deployments from the hosting provider";
  switch (code) {
    case "hosting_http_401":
    case "hosting_http_403":
      return `${what}: it refuses HOSTING_TOKEN, or the token has no access to HOSTING_TEAM_ID`;
    case "hosting_no_projects":
      return `${what}: the token sees no project; set HOSTING_TEAM_ID if a team owns them`;
    case "hosting_pagination_loop":
      return `${what}: its listing does not end`;
    case "hosting_answer_unreadable":
      return `${what}: an answer is not as documented`;
    default:
      return `${what}: ${code.replace(/^hosting_/, "").replaceAll("_", " ")}`;
  }
}
