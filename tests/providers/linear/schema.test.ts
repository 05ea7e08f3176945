/**
 * What the client asks of the issue tracker and what the stand-in says, judged by Linear's published schema and
 * GraphQL's reference implementation. Requests and answers are those of real calls, taken from the wire.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { buildSchema, executeSync, parse, validate, validateSchema } from "graphql";
import { getVariableValues } from "graphql/execution/index.js";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { linearTracker } from "../../../lib/providers/linear/client.ts";
import { ISSUE_ID as ID, TEAM_ID as TEAM } from "../../cases/tracker-answers.ts";
import { startTracker, type Tracker } from "../../standins/tracker.ts";

const schema = buildSchema(
  readFileSync(new URL("../../fixtures/linear-schema.graphql", import.meta.url), "utf8"),
);
const TOKEN = "lin_api_canary";

type Exchange = { query: string; variables: Record<string, unknown>; data: unknown };

let tracker: Tracker;
const exchanges: Exchange[] = [];

beforeAll(async () => {
  tracker = await startTracker({ token: TOKEN, teamId: TEAM });
  const client = linearTracker({ url: new URL(tracker.endpoint), token: new Secret(TOKEN), teamId: TEAM });
  await client.checkAccess();
  for (const priority of [0, 1, 2, 3, 4] as const)
    await client.createIssue({ ...issue(priority), title: "t", description: "d" });
  // An id that exists already is a conflict and is read back; an issue whose answer is lost is looked up.
  await client.createIssue({ ...issue(0), title: "[ALERTA][geral] ünï \u{1F534}", description: "" });
  tracker.routes.graphql.next({ status: 502, text: "bad gateway" });
  await client.createIssue({ ...issue(3), title: "t", description: "d" });
  await client.createComment({ id: ID, issueId: issue(0).id, body: "✅ Resolvido." });
  for (const { body } of [...tracker.ledger]) exchanges.push(await replayed(body as Omit<Exchange, "data">));
});

afterAll(async () => {
  await tracker.stop();
});

function issue(priority: 0 | 1 | 2 | 3 | 4) {
  return { id: `${ID.slice(0, -1)}${priority}`, priority };
}

/** The request again, for its answer: the ledger keeps requests. A creation is one of a new issue or comment. */
async function replayed({ query, variables }: Omit<Exchange, "data">): Promise<Exchange> {
  const input = variables.input as object | undefined;
  const sent = input === undefined ? variables : { input: { ...input, id: crypto.randomUUID() } };
  const answer = await fetch(tracker.endpoint, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: TOKEN },
    body: JSON.stringify({ query, variables: sent }),
  });
  return { query, variables, data: ((await answer.json()) as { data: unknown }).data };
}

/** What is wrong with a query, then with its variables; nothing when the schema takes both. */
function problemsOf({ query, variables }: Omit<Exchange, "data">): string[] {
  const document = parse(query);
  const invalid = validate(schema, document).map(({ message }) => message);
  if (invalid.length > 0) return invalid;
  const [operation] = document.definitions;
  if (operation?.kind !== "OperationDefinition") return ["no operation"];
  const { errors = [] } = getVariableValues(schema, operation.variableDefinitions ?? [], variables);
  return errors.map(({ message }) => message);
}

/** What the schema makes of an answer's data: the same again, unless a type or a null is not as published. */
function executed({ query, variables, data }: Exchange): unknown {
  const { data: seen, errors = [] } = executeSync({
    schema,
    document: parse(query),
    variableValues: variables,
    rootValue: data,
  });
  return errors.length > 0 ? errors.map(({ message }) => message) : JSON.parse(JSON.stringify(seen));
}

/** The first field that a query asks for. */
function rootFieldOf(query: string): string {
  return /\{\s*(\w+)/.exec(query)![1]!;
}

/** The query of the client that begins with this field, as it was sent. */
function sentQuery(rootField: string): string {
  return exchanges.find(({ query }) => rootFieldOf(query) === rootField)!.query;
}

describe("Linear's published schema", () => {
  test("is whole as far as it was kept", () => {
    expect(validateSchema(schema)).toEqual([]);
  });

  test("takes every request that was sent, with its variables", () => {
    expect([...new Set(exchanges.map(({ query }) => rootFieldOf(query)))].toSorted()).toEqual([
      "commentCreate",
      "issue",
      "issueCreate",
      "issues",
      "viewer",
    ]);
    for (const exchange of exchanges) expect(problemsOf(exchange)).toEqual([]);
  });

  test("knows every answer of the stand-in, to the type", () => {
    for (const exchange of exchanges) expect(executed(exchange)).toEqual(exchange.data);
  });
});

describe("Linear's published schema refuses", () => {
  const input = { id: ID, teamId: TEAM, title: "t", description: "d", priority: 2 };

  test.each<[string, string, object, [string, string]?]>([
    ["a field that it has not", "issueCreate", { input }, ["identifier", "identifer"]],
    ["an argument that it has not", "issues", { filter: {} }, ["includeArchived", "withArchived"]],
    ["a variable of another type", "issue", { id: 1 }, ["String!", "Int!"]],
    ["an optional variable for a required argument", "issue", { id: ID }, ["String!", "String"]],
    ["an input without its team", "issueCreate", { input: { ...input, teamId: undefined } }],
    ["a key that the input has not", "issueCreate", { input: { ...input, body: "d" } }],
    ["a priority as text", "issueCreate", { input: { ...input, priority: "2" } }],
    ["a filter of another form", "issues", { filter: { id: ID } }],
    ["a comparison that it has not", "issues", { filter: { id: { equals: ID } } }],
    ["no variable", "issue", {}],
    ["a comment with a title", "commentCreate", { input: { id: ID, title: "t" } }],
    ["a comment's text as a number", "commentCreate", { input: { id: ID, issueId: ID, body: 1 } }],
  ])("%s", (_what, rootField, variables, [from, to] = ["", ""]) => {
    const query = sentQuery(rootField).replace(from, to);
    expect(problemsOf({ query, variables: variables as Exchange["variables"] })).not.toEqual([]);
  });

  test.each([
    ["an issue without its link", { id: ID, identifier: "ENG-1" }],
    ["an issue whose link is null", { id: ID, identifier: "ENG-1", url: null }],
    ["an identifier that is an object", { id: ID, identifier: {}, url: "https://linear.app/" }],
  ])("%s", (_what, found) => {
    const data = { issue: found };
    expect(executed({ query: sentQuery("issue"), variables: { id: ID }, data })).not.toEqual(data);
  });
});
