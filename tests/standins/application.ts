/** A stand-in of the application: the two routes that the weekly run calls, each with its own secret, and its home. */
import {
  type Answer,
  hasExactly,
  type LedgerEntry,
  type StandIn,
  type StandInOptions,
  startStandIn,
} from "./standin.ts";

/** The body of an analysis call. */
export type AnalysisBody = {
  tenantId: string;
  userId: string;
  connectionId: string;
  windowStart: string;
  windowEnd: string;
};

/** The body of an editorial call. */
export type EditorialBody = { cursor: unknown; batchSize: number; maxLlmCalls: number };

/** Settings of the application. */
export type ApplicationOptions = StandInOptions & {
  triggerSecret: string;
  cronSecret: string;
  /** Runs before the answer of an analysis call, so that a test writes the rows that the route would write. */
  onAnalyze?: (body: AnalysisBody) => Promise<void> | void;
  /** Runs before the answer of an editorial call. */
  onEditorial?: (body: EditorialBody) => Promise<unknown> | unknown;
  /** The answers of the editorial route, one per call, then the answer of a finished drain. */
  editorials?: Record<string, unknown>[];
};

/**
 * A running application.
 *
 * Shape: `analyzed` holds the bodies that were worked on; `outsideMonday` turns the analysis route to 409;
 *        `editorials` is what is left of the scripted answers and may be added to; faults are ordered with
 *        `routes.analysis.next(...)` and `routes.editorial.next(...)`. Its home page sends visitors elsewhere.
 */
export type Application = StandIn<"analysis" | "editorial" | "home"> & {
  analyzed: AnalysisBody[];
  editorials: Record<string, unknown>[];
  outsideMonday: boolean;
};

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/;
const FINISHED = {
  truncated: false,
  nextCursor: null,
  reasonStopped: null,
  llmCalls: 0,
  processed: 0,
  skipped: 0,
  failures: [],
};

/** Starts an application. */
export async function startApplication(options: ApplicationOptions): Promise<Application> {
  async function analyze(entry: LedgerEntry, work: () => Promise<void>): Promise<Answer> {
    if (!bearer(entry, options.triggerSecret)) return problem(401, "unauthorized");
    if (application.outsideMonday) return problem(409, "outside_monday");
    if (!isAnalysisBody(entry.body)) return problem(422, "invalid_body");
    await work();
    await options.onAnalyze?.(entry.body);
    application.analyzed.push(entry.body);
    return { status: 200, json: { ok: true } };
  }

  async function editorial(entry: LedgerEntry, work: () => Promise<void>): Promise<Answer> {
    if (!bearer(entry, options.cronSecret)) return problem(401, "unauthorized");
    if (!isEditorialBody(entry.body)) return problem(422, "invalid_body");
    await work();
    await options.onEditorial?.(entry.body);
    return { status: 200, json: application.editorials.shift() ?? FINISHED };
  }

  const standIn = await startStandIn(
    {
      analysis: {
        method: "POST",
        pattern: /^\/api\/v1\/social\/analytics\/weekly$/,
        handle: (entry, _match, work) => analyze(entry, work),
      },
      home: {
        method: "GET",
        pattern: /^\/$/,
        handle: async () => ({ status: 307, headers: { location: "/login" } }),
      },
      editorial: {
        method: "POST",
        pattern: /^\/api\/v1\/cron\/social-editorials$/,
        handle: (entry, _match, work) => editorial(entry, work),
      },
    },
    { ...options, notFound: () => problem(404, "not_found") },
  );
  const editorials = [...(options.editorials ?? [])];
  const application: Application = Object.assign(standIn, {
    analyzed: [] as AnalysisBody[],
    editorials,
    outsideMonday: false,
  });
  return application;
}

function bearer(entry: LedgerEntry, secret: string): boolean {
  return entry.headers.authorization === `Bearer ${secret}`;
}

function problem(status: number, error: string): Answer {
  return { status, json: { error } };
}

function isAnalysisBody(body: unknown): body is AnalysisBody {
  if (!hasExactly(body, ["tenantId", "userId", "connectionId", "windowStart", "windowEnd"])) return false;
  const ids = [body.tenantId, body.userId, body.connectionId];
  const instants = [body.windowStart, body.windowEnd];
  return (
    ids.every((id) => typeof id === "string" && UUID.test(id)) &&
    instants.every((at) => typeof at === "string" && INSTANT.test(at))
  );
}

function isEditorialBody(body: unknown): body is EditorialBody {
  if (!hasExactly(body, ["cursor", "batchSize", "maxLlmCalls"])) return false;
  const { batchSize, maxLlmCalls } = body;
  const oneToThree = (value: unknown) => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 3;
  return batchSize === 3 && oneToThree(maxLlmCalls);
}
