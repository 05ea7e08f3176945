/** A stand-in of the issue tracker: Linear's GraphQL endpoint as far as its contract is known, by its published schema. */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import {
  buildSchema,
  type DocumentNode,
  executeSync,
  type FieldNode,
  Kind,
  parse,
  validate,
  visit,
} from "graphql";
import {
  type Answer,
  hasExactly,
  type LedgerEntry,
  type StandIn,
  type StandInOptions,
  startStandIn,
} from "./standin.ts";

type IssueInput = {
  teamId: string;
  id?: string;
  title?: string | null;
  description?: string | null;
  priority?: number | null;
};
type CommentInput = { id?: string; issueId?: string; body?: string | null };
type List = { filter?: { id?: { eq?: string } } };

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const UUID_4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Judges each query, its variables and what is answered. */
const schema = buildSchema(
  readFileSync(new URL("../fixtures/linear-schema.graphql", import.meta.url), "utf8"),
);

/** Settings of the tracker. */
export type TrackerOptions = StandInOptions & { token: string; teamId: string };

/** An issue that the tracker has. */
export type TrackedIssue = {
  id: string;
  identifier: string;
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
    const document = documentOf(query);
    await work();
    const rootValue = rootOf(tracker, teamId);
    const { data, errors } = executeSync({ schema, document, variableValues: variables, rootValue });
    const [error] = errors ?? [];
    if (error === undefined) return { status: 200, json: { data } };
    // Without data nothing was executed, since a variable is missing or of another type.
    if (data === undefined) return invalidQuery(error.message);
    throw error.originalError ?? error;
  } catch (error) {
    if (error instanceof Refusal) return error.answer;
    throw error;
  }
}

/** What each field of Query and Mutation does; the schema has judged the types of its arguments. */
function rootOf(tracker: Tracker, teamId: string) {
  const done = { success: true, lastSyncId: 1 };
  return {
    issueCreate: ({ input }: { input: IssueInput }) => ({ ...done, issue: create(tracker, teamId, input) }),
    commentCreate: ({ input }: { input: CommentInput }) => ({ ...done, comment: comment(tracker, input) }),
    issue: ({ id }: { id: string }) => find(tracker, id)[0] ?? raise(missingIssue()),
    issues: (list: List) => ({ nodes: find(tracker, idOf(list)) }),
    teams: (list: List) => ({ nodes: idOf(list) === teamId ? [teamOf(teamId)] : [] }),
    viewer: { id: VIEWER_ID },
  };
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

function badValue(message: string): Answer {
  return inputError("Argument Validation Error", message);
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

/** The one operation of a query that the schema takes. */
function documentOf(query: string): DocumentNode {
  const document = parsed(query);
  const [operation, ...others] = document.definitions;
  if (operation?.kind !== Kind.OPERATION_DEFINITION || operation.name === undefined || others.length > 0)
    return raise(invalidQuery("Expected one named operation"));
  const [problem] = validate(schema, document);
  return problem === undefined ? document : raise(invalidQuery(problem.message));
}

// Linear takes more of the language; here a literal is how a text of the caller would get into the query.
function parsed(query: string): DocumentNode {
  const refuse = () => raise(invalidQuery("Expected fields, variables, numbers and true or false alone"));
  if (!/^[\w\s,{}()$:!]*$/.test(query)) return refuse();
  try {
    const document = parse(query);
    const field = { enter: ({ alias }: FieldNode) => void (alias !== undefined && refuse()) };
    visit(document, { Field: field, ObjectValue: refuse, EnumValue: refuse, NullValue: refuse });
    return document;
  } catch (error) {
    return error instanceof Refusal ? raise(error.answer) : raise(invalidQuery(String(error)));
  }
}

function idOf({ filter }: List): string {
  const id = filter?.id?.eq ?? "";
  return UUID.test(id) ? id : raise(badValue("id must be a UUID"));
}

function teamOf(id: string): unknown {
  return { id, key: "ENG", name: "Engineering" };
}

function find(tracker: Tracker, id: string): TrackedIssue[] {
  tracker.lookups.push(id);
  return tracker.issues.filter((issue) => issue.id === id || issue.identifier === id);
}

function create(tracker: Tracker, teamId: string, input: IssueInput): TrackedIssue {
  const { issues, conflictStatus, issueLimit } = tracker;
  const { id = randomUUID() } = input;
  const title = input.title ?? "";
  const priority = input.priority ?? 0;
  if (!UUID_4.test(id)) raise(badValue("id must be a UUID"));
  if (input.teamId !== teamId) raise(badValue("Could not find referenced Team."));
  if (title.trim() === "") raise(badValue("title should not be empty"));
  if (priority < 0 || priority > 4) raise(badValue("priority must be between 0 and 4"));
  if (issues.some((issue) => issue.id === id)) raise(conflict("Issue", id, conflictStatus));
  if (issues.length >= issueLimit) {
    raise(trackerError(400, "Usage limit exceeded", { type: "usage limit exceeded", userError: true }));
  }
  const at = tracker.now();
  const number = issues.length + 1;
  const issue: TrackedIssue = {
    id,
    identifier: `ENG-${number}`,
    url: `https://linear.app/example/issue/ENG-${number}`,
    title,
    description: input.description ?? null,
    priority,
    teamId: input.teamId,
    createdAt: at.toISOString(),
    at,
  };
  issues.push(issue);
  return issue;
}

// The schema requires none of the fields, the peer itself a text and something to comment on.
function comment(tracker: Tracker, input: CommentInput): TrackedComment {
  const { issues, comments, conflictStatus } = tracker;
  const { id = randomUUID(), issueId } = input;
  const body = input.body ?? "";
  if (!UUID_4.test(id)) raise(badValue("id must be a UUID"));
  if (issueId === undefined) raise(badValue("issueId should not be empty"));
  if (body.trim() === "") raise(badValue("body should not be empty"));
  if (comments.some((comment) => comment.id === id)) raise(conflict("Comment", id, conflictStatus));
  const issue = issues.find((issue) => issue.id === issueId || issue.identifier === issueId);
  if (issue === undefined) return raise(missingIssue());
  const url = `${issue.url}#comment-${id.slice(0, 8)}`;
  const created = { id, issueId: issue.id, body, createdAt: tracker.now().toISOString(), url };
  comments.push(created);
  return created;
}
