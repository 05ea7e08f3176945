/** A stand-in of the hosting provider: Vercel's projects v9 and deployments v6, pages and teams included. */
import { type Answer, type LedgerEntry, type StandIn, type StandInOptions, startStandIn } from "./standin.ts";

/** One deployment; `createdAt` in milliseconds. */
export type HostingDeployment = { readyState: string; createdAt: number; target?: string | null };

/**
 * One project: all its deployments, and what the listing shows of them: the newest so many (default: all), null when
 * it leaves the key out.
 */
export type HostingProject = { name: string; deployments: HostingDeployment[]; listed?: number | null };

/** Settings of the provider; projects belong to the team, or to the account itself when there is none. */
export type HostingOptions = StandInOptions & {
  token: string;
  projects: HostingProject[];
  teamId?: string;
  pageSize?: number;
};

/** A running provider; `projects` may be changed while it runs. */
export type Hosting = StandIn<"projects" | "deployments"> & { projects: HostingProject[] };

/** A project whose deployments were in these states, the newest first. */
export function projectOf(name: string, ...states: string[]): HostingProject {
  const deployments = states.map((readyState, index) => ({
    readyState,
    createdAt: 1_772_438_300_000 - index * 60_000,
  }));
  return { name, deployments };
}

/** Starts a provider. */
export async function startHosting(options: HostingOptions): Promise<Hosting> {
  const { projects, pageSize = 100 } = options;

  function guard({ headers }: LedgerEntry): Answer | null {
    if (headers.authorization === `Bearer ${options.token}`) return null;
    return error(403, "forbidden", "Not authorized", { invalidToken: true });
  }

  // Without its team a token sees the account's own projects, which are none: no error.
  function visible(query: URLSearchParams): HostingProject[] | Answer {
    const teamId = query.get("teamId");
    if (teamId === (options.teamId ?? null)) return projects;
    return teamId === null ? [] : error(403, "forbidden", "Not authorized");
  }

  function listProjects(entry: LedgerEntry): Answer {
    const query = queryOf(entry);
    const seen = visible(query);
    if (!Array.isArray(seen)) return seen;
    const limit = Math.min(Number(query.get("limit") ?? 20), pageSize);
    const from = Number(query.get("until") ?? 0);
    const page = seen.slice(from, from + limit);
    const next = from + limit < seen.length ? from + limit : null;
    const json = { projects: page.map(projectRow), pagination: { count: page.length, next, prev: null } };
    return { status: 200, json };
  }

  function listDeployments(entry: LedgerEntry): Answer {
    const query = queryOf(entry);
    const seen = visible(query);
    if (!Array.isArray(seen)) return seen;
    const states = query.get("state")?.split(",");
    const rows = seen
      .flatMap((project) => project.deployments.map((deployment) => deploymentRow(project, deployment)))
      .filter(({ projectId }) => query.get("projectId") === null || projectId === query.get("projectId"))
      .filter(({ readyState }) => states === undefined || states.includes(readyState))
      .sort((a, b) => b.createdAt - a.createdAt)
      .slice(0, Number(query.get("limit") ?? 20));
    return {
      status: 200,
      json: { deployments: rows, pagination: { count: rows.length, next: null, prev: null } },
    };
  }

  const route = (pattern: RegExp, answer: (entry: LedgerEntry) => Answer) => ({
    method: "GET",
    pattern,
    async handle(entry: LedgerEntry, _match: RegExpMatchArray, work: () => Promise<void>) {
      await work();
      return guard(entry) ?? answer(entry);
    },
  });
  const standIn = await startStandIn(
    {
      projects: route(/^\/v9\/projects$/, listProjects),
      deployments: route(/^\/v6\/deployments$/, listDeployments),
    },
    { ...options, notFound: () => error(404, "not_found", "The requested resource does not exist") },
  );
  return Object.assign(standIn, { projects });
}

function queryOf({ path }: LedgerEntry): URLSearchParams {
  return new URLSearchParams(path.split("?")[1]);
}

function error(status: number, code: string, message: string, extra: object = {}): Answer {
  return { status, json: { error: { code, message, ...extra } } };
}

function idOf({ name }: HostingProject): string {
  return `prj_${Buffer.from(name).toString("hex")}`;
}

// The oldest first: the order is not documented, so opsctl must not rely on it.
function projectRow(project: HostingProject): object {
  const { name, deployments, listed = deployments.length } = project;
  const row = { id: idOf(project), name, accountId: "team_x", updatedAt: 1_772_438_400_000, targets: {} };
  if (listed === null) return row;
  const newest = [...deployments].sort((a, b) => b.createdAt - a.createdAt).slice(0, listed);
  const latestDeployments = newest
    .reverse()
    .map((deployment, index) => ({ id: `dpl_${index}`, ...deployment }));
  return { ...row, latestDeployments };
}

function deploymentRow(project: HostingProject, { readyState, createdAt, target }: HostingDeployment) {
  const projectId = idOf(project);
  const times = { created: createdAt, createdAt };
  return {
    uid: `dpl_${createdAt}`,
    name: project.name,
    projectId,
    state: readyState,
    readyState,
    target,
    ...times,
  };
}
