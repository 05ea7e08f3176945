/** A stand-in of the issue tracker: Linear's GraphQL endpoint as far as its contract is known. */
import { randomUUID } from "node:crypto";
import {
  type Answer,
  hasExactly,
  type LedgerEntry,
  type StandIn,
  type StandInOptions,
  startStandIn,
} from "./standin.ts";
import { type CommentInput, type IssueInput, inputProblem } from "./tracker-input.ts";
import { type Field, type Operation, parseOperation } from "./tracker-query.ts";

/** Settings of the tracker. */
export type TrackerOptions = StandInOptions & { token: string; teamId: string };

/** An issue that the tracker has. */
export type TrackedIssue = {
  id: string;
  identifier: string;
  number: number;
  url: string;
  title: string;
  description: string | null;
  priority: number;
  teamId: string;
  createdAt: string;
  at: Date;
};

/** A comment that the tracker has; `issueId` is the issue's UUID. */
export type TrackedComment = { id: string; issueId: string; body: string; createdAt: string; url: string };

/**
 * A running tracker.
 *
 * Shape: `endpoint` is the whole address; `issues` and `comments` are what was created; an issue that is taken out was
 *        deleted by a person; `lookups` the ids that were read or sought. The rest may be changed while it runs: with
 *        which status conflicts and refused keys are answered, the headers of the refusal while the rate is used up
 *        (null: it is not), how many issues the plan allows. Faults are ordered with `routes.graphql.next(...)`.
 */
export type Tracker = StandIn<"graphql"> & {
  endpoint: string;
  issues: TrackedIssue[];
  comments: TrackedComment[];
  lookups: string[];
  now: () => Date;
  token: string;
  conflictStatus: 400 | 200;
  authStatus: 401 | 200;
  rateLimit: Record<string, string> | null;
  issueLimit: number;
};

/** An error answer as the tracker gives it. */
export function trackerError(
  status: number,
  message: string,
  extensions: Record<string, unknown>,
  data: unknown = null,
): Answer {
  return { status, json: { errors: [{ message, extensions }], data } };
}

/** Starts a tracker. */
export async function startTracker(options: TrackerOptions): Promise<Tracker> {
  const standIn = await startStandIn(
    {
      graphql: {
        method: "POST",
        pattern: /^\/graphql$/,
        handle: (entry, _match, work) => answer(tracker, options.teamId, entry, work),
      },
    },
    {
      ...options,
      notFound: () => ({ status: 404, text: "Not Found", headers: { "content-type": "text/plain" } }),
    },
  );
  const tracker: Tracker = Object.assign(standIn, {
    endpoint: `${standIn.url}/graphql`,
    issues: [] as TrackedIssue[],
    comments: [] as TrackedComment[],
    lookups: [] as string[],
    now: options.clock ?? (() => new Date()),
    token: options.token,
    conflictStatus: 400 as const,
    authStatus: 401 as const,
    rateLimit: null,
    issueLimit: Number.POSITIVE_INFINITY,
  });
  return tracker;
}

async function answer(
  tracker: Tracker,
  teamId: string,
  entry: LedgerEntry,
  work: () => Promise<void>,
): Promise<Answer> {
  try {
    const { query, variables } = requestOf(entry);
    gate(tracker, entry.headers.authorization);
    const operation = checkedOperation(query, variables, teamId);
    await work();
    const data = operation.fields.map((field) => {
      const value = resolve(tracker, teamId, field.name, argumentOf(field, variables));
      return [field.name, project(value, field.fields)];
    });
    return { status: 200, json: { data: Object.fromEntries(data) } };
  } catch (error) {
    if (error instanceof Refusal) return error.answer;
    throw error;
  }
}

function resolve(tracker: Tracker, teamId: string, field: string, argument: unknown): unknown {
  switch (field) {
    case "issueCreate":
      return { success: true, lastSyncId: 1, issue: create(tracker, argument as IssueInput) };
    case "commentCreate":
      return { success: true, lastSyncId: 1, comment: comment(tracker, argument as CommentInput) };
    case "issue":
      return find(tracker, String(argument))[0] ?? raise(missingIssue());
    case "issues":
      return { nodes: find(tracker, idOf(argument)) };
    case "teams":
      return { nodes: idOf(argument) === teamId ? [teamOf(teamId)] : [] };
    default:
      return { id: VIEWER_ID };
  }
}

const VIEWER_ID = randomUUID();

class Refusal extends Error {
  readonly answer: Answer;

  constructor(answer: Answer) {
    super("refused");
    this.answer = answer;
  }
}

function raise(answer: Answer): never {
  throw new Refusal(answer);
}

function invalidQuery(message: string): Answer {
  return trackerError(400, message, {
    type: "graphql error",
    code: "GRAPHQL_VALIDATION_FAILED",
    statusCode: 400,
  });
}

function inputError(message: string, userPresentableMessage: string, status = 400): Answer {
  const extensions = { type: "invalid input", code: "INPUT_ERROR", statusCode: 400, userError: true };
  return trackerError(status, message, { ...extensions, userPresentableMessage });
}

function conflict(entity: "Issue" | "Comment", id: string, status: 400 | 200): Answer {
  return inputError(
    `conflict on insert of ${entity}`,
    `Entity ${entity} with id ${id} already exists.`,
    status,
  );
}

function missingIssue(): Answer {
  return inputError("Entity not found: Issue", "Could not find referenced Issue.");
}

type GraphqlRequest = { query: string; variables: Record<string, unknown> };

function requestOf({ body, headers }: LedgerEntry): GraphqlRequest {
  const isJson = /^application\/json\b/.test(headers["content-type"] ?? "");
  if (!isJson || !hasExactly(body, ["query", "variables"])) {
    return raise(invalidQuery("Expected a JSON body with a query and its variables"));
  }
  const { query, variables } = body;
  if (typeof query !== "string" || typeof variables !== "object" || variables === null) {
    return raise(invalidQuery("Expected a query and an object of variables"));
  }
  return { query, variables: variables as Record<string, unknown> };
}

// A personal key is refused as a bearer, any other token without the word.
function gate(tracker: Tracker, authorization: string | undefined): void {
  const { token, authStatus, rateLimit } = tracker;
  const isPersonal = token.startsWith("lin_api_");
  const extensions = {
    type: "authentication error",
    code: "AUTHENTICATION_ERROR",
    statusCode: 401,
    userError: true,
  };
  if (isPersonal && authorization === `Bearer ${token}`)
    raise(trackerError(400, "Remove the Bearer prefix from the Authorization header", extensions));
  if (authorization !== (isPersonal ? token : `Bearer ${token}`))
    raise(trackerError(authStatus, "Authentication required, not authenticated", extensions));
  if (rateLimit === null) return;
  const limited = { type: "ratelimited", code: "RATELIMITED", statusCode: 429 };
  raise({ ...trackerError(400, "Rate limit exceeded", limited), headers: rateLimit });
}

function checkedOperation(query: string, variables: Record<string, unknown>, teamId: string): Operation {
  const operation = parsed(query);
  for (const [name, type] of operation.declared) {
    const isAbsent = variables[name] === undefined || variables[name] === null;
    if (isAbsent && type.endsWith("!"))
      raise(invalidQuery(`Variable "$${name}" of required type "${type}" was not provided`));
    if (isAbsent) continue;
    const problem = inputProblem(type.replace("!", ""), variables[name], teamId);
    if (problem?.kind === "type") raise(invalidQuery(problem.message));
    if (problem?.kind === "value") raise(inputError("Argument Validation Error", problem.message));
  }
  return operation;
}

function parsed(query: string): Operation {
  try {
    return parseOperation(query);
  } catch (error) {
    return raise(invalidQuery(String(error)));
  }
}

// Every field here has at most one argument that comes from a variable.
function argumentOf(field: Field, variables: Record<string, unknown>): unknown {
  const [name] = field.variables.values();
  return name === undefined ? undefined : variables[name];
}

function idOf(filter: unknown): string {
  return (filter as { id: { eq: string } }).id.eq;
}

function teamOf(id: string): unknown {
  return { id, key: "ENG", name: "Engineering" };
}

function find(tracker: Tracker, id: string): TrackedIssue[] {
  tracker.lookups.push(id);
  return tracker.issues.filter((issue) => issue.id === id || issue.identifier === id);
}

function create(tracker: Tracker, input: IssueInput): TrackedIssue {
  const { issues, conflictStatus, issueLimit } = tracker;
  const id = input.id ?? randomUUID();
  if (issues.some((issue) => issue.id === id)) raise(conflict("Issue", id, conflictStatus));
  if (issues.length >= issueLimit) {
    raise(trackerError(400, "Usage limit exceeded", { type: "usage limit exceeded", userError: true }));
  }
  const at = tracker.now();
  const number = issues.length + 1;
  const issue: TrackedIssue = {
    id,
    identifier: `ENG-${number}`,
    number,
    url: `https://linear.app/example/issue/ENG-${number}`,
    title: input.title,
    description: input.description ?? null,
    priority: input.priority ?? 0,
    teamId: input.teamId,
    createdAt: at.toISOString(),
    at,
  };
  issues.push(issue);
  return issue;
}

function comment(tracker: Tracker, { id = randomUUID(), issueId, body }: CommentInput): TrackedComment {
  const { issues, comments, conflictStatus } = tracker;
  if (comments.some((comment) => comment.id === id)) raise(conflict("Comment", id, conflictStatus));
  const issue = issues.find((issue) => issue.id === issueId || issue.identifier === issueId);
  if (issue === undefined) return raise(missingIssue());
  const url = `${issue.url}#comment-${id.slice(0, 8)}`;
  const created = { id, issueId: issue.id, body, createdAt: tracker.now().toISOString(), url };
  comments.push(created);
  return created;
}

// Only what was selected is answered.
function project(value: unknown, fields: Field[]): unknown {
  if (fields.length === 0 || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => project(item, fields));
  const record = value as Record<string, unknown>;
  return Object.fromEntries(fields.map(({ name, fields: inner }) => [name, project(record[name], inner)]));
}
