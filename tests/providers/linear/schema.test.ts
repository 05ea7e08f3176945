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
import * as queries from "../../../lib/providers/linear/query.ts";
import { startTracker, type Tracker } from "../../standins/tracker.ts";

const schema = buildSchema(
  readFileSync(new URL("../../fixtures/linear-schema.graphql", import.meta.url), "utf8"),
);
const TOKEN = "lin_api_canary";
const TEAM = "5b6b1a4e-9c0f-4e55-8a35-0d6a5d0d7c01";
const ID = "3f2b9c1e-7d44-4a7e-9a55-0c9c6f0f2e11";

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

describe("Linear's published schema", () => {
  test("is whole as far as it was kept", () => {
    expect(validateSchema(schema)).toEqual([]);
  });

  test("has every query of the client", () => {
    for (const query of Object.values(queries)) expect(validate(schema, parse(query))).toEqual([]);
  });

  test("takes every request that was sent, with its variables", () => {
    expect(new Set(exchanges.map(({ query }) => query))).toEqual(new Set(Object.values(queries)));
    for (const exchange of exchanges) expect(problemsOf(exchange)).toEqual([]);
  });

  test("knows every answer of the stand-in, to the type", () => {
    for (const exchange of exchanges) expect(executed(exchange)).toEqual(exchange.data);
  });
});

describe("Linear's published schema refuses", () => {
  const input = { id: ID, teamId: TEAM, title: "t", description: "d", priority: 2 };
  const { CREATE_COMMENT, CREATE_ISSUE, FIND_ISSUE, READ_ISSUE } = queries;

  test.each([
    ["a field that it has not", CREATE_ISSUE.replace("identifier", "identifer"), { input }],
    ["an argument that it has not", FIND_ISSUE.replace("includeArchived", "withArchived"), { filter: {} }],
    ["a variable of another type", READ_ISSUE.replace("String!", "Int!"), { id: 1 }],
    ["an optional variable for a required argument", READ_ISSUE.replace("String!", "String"), { id: ID }],
    ["an input without its team", CREATE_ISSUE, { input: { ...input, teamId: undefined } }],
    ["a key that the input has not", CREATE_ISSUE, { input: { ...input, body: "d" } }],
    ["a priority as text", CREATE_ISSUE, { input: { ...input, priority: "2" } }],
    ["a filter of another form", FIND_ISSUE, { filter: { id: ID } }],
    ["a comparison that it has not", FIND_ISSUE, { filter: { id: { equals: ID } } }],
    ["no variable", READ_ISSUE, {}],
    ["a comment with a title", CREATE_COMMENT, { input: { id: ID, title: "t" } }],
    ["a comment's text as a number", CREATE_COMMENT, { input: { id: ID, issueId: ID, body: 1 } }],
  ])("%s", (_what, query, variables) => {
    expect(problemsOf({ query, variables })).not.toEqual([]);
  });

  test.each([
    ["an issue without its link", { id: ID, identifier: "ENG-1" }],
    ["an issue whose link is null", { id: ID, identifier: "ENG-1", url: null }],
    ["an identifier that is an object", { id: ID, identifier: {}, url: "https://linear.app/" }],
  ])("%s", (_what, found) => {
    const data = { issue: found };
    expect(executed({ query: READ_ISSUE, variables: { id: ID }, data })).not.toEqual(data);
  });
});
