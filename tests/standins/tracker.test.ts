import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTracker, type Tracker } from "./tracker.ts";

const TOKEN = "lin_api_canary";
const TEAM = "5b6b1a4e-9c0f-4e55-8a35-0d6a5d0d7c01";
const ID = "3f2b9c1e-7d44-4a7e-9a55-0c9c6f0f2e11";
const CREATE =
  "mutation C($input: IssueCreateInput!) { issueCreate(input: $input) { success issue { id } } }";
const READ = "query Q($id: String!) { issue(id: $id) { id } }";
const FIND =
  "query Q($filter: IssueFilter!) { issues(filter: $filter, includeArchived: true) { nodes { id } } }";
const filter = (id: unknown) => ({ filter: { id } });
const input = { id: ID, teamId: TEAM, title: "canary", priority: 2 };

let tracker: Tracker;

beforeAll(async () => {
  tracker = await startTracker({ token: TOKEN, teamId: TEAM });
});

afterAll(async () => {
  await tracker.stop();
});

async function post(body: unknown, headers: Record<string, string> = {}): Promise<[number, string]> {
  const answer = await fetch(tracker.endpoint, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: TOKEN, ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const { errors } = (await answer.json()) as { errors?: { extensions: { code: string } }[] };
  return [answer.status, errors?.[0]?.extensions.code ?? "none"];
}

describe("startTracker() refuses", () => {
  const invalid: [number, string] = [400, "GRAPHQL_VALIDATION_FAILED"];
  const badInput: [number, string] = [400, "INPUT_ERROR"];
  const create = (changes: object) => ({ query: CREATE, variables: { input: { ...input, ...changes } } });
  const query = (text: string, variables: object = { input }) => ({ query: text, variables });

  test.each<[string, unknown, [number, string]]>([
    ["no JSON", "canary", invalid],
    ["no variables", { query: CREATE }, invalid],
    ["another key", { ...create({}), extra: 1 }, invalid],
    [
      "a text pasted into the query",
      query(`mutation C { issueCreate(input: {title: "canary"}) { success } }`),
      invalid,
    ],
    ["an unknown field", query(CREATE.replace("success", "succes")), invalid],
    ["an unknown root field", query("query Q { users { id } }"), invalid],
    ["a mutation as a query", query(CREATE.replace("mutation", "query")), invalid],
    ["no operation name", query(CREATE.replace(" C(", " (")), invalid],
    ["two operations", query(`${CREATE} query Q { viewer { id } }`), invalid],
    ["a variable of another type", query(CREATE.replace("IssueCreateInput!", "String!")), invalid],
    ["an unused variable", query("query Q($id: String!) { viewer { id } }", { id: ID }), invalid],
    ["an object without a selection", query(CREATE.replace("issue { id }", "issue")), invalid],
    ["a missing variable", query(CREATE, {}), invalid],
    [
      "an optional variable for a required argument",
      query(READ.replace("String!", "String"), { id: ID }),
      invalid,
    ],
    ["an id that is a number", query(READ, { id: 1 }), invalid],
    [
      "an unknown argument",
      query(FIND.replace("includeArchived", "withArchived"), filter({ eq: ID })),
      invalid,
    ],
    ["a filter of another form", query(FIND, filter(ID)), invalid],
    ["an unknown comparison", query(FIND, filter({ equals: ID })), invalid],
    ["a filter by an id that is no UUID", query(FIND, filter({ eq: "ENG-1" })), badInput],
    ["no filter", query(FIND, { filter: {} }), badInput],
    ["another name for a field", query(READ.replace("issue(", "own: issue("), { id: ID }), invalid],
    ["null in the query", query(FIND.replace("true", "null"), filter({ eq: ID })), invalid],
    [
      "an object in the query",
      query("query Q($id: ID) { issues(filter: {id: {eq: $id}}) { nodes { id } } }"),
      invalid,
    ],
    ["a fragment", query(READ.replace("{ id }", "{ ... { id } }"), { id: ID }), invalid],
    ["no query", query("{"), invalid],
    ["an unknown input key", create({ body: "canary" }), invalid],
    ["no team", create({ teamId: undefined }), invalid],
    ["a priority as text", create({ priority: "2" }), invalid],
    ["a priority with a fraction", create({ priority: 1.5 }), invalid],
    ["a priority out of range", create({ priority: 5 }), badInput],
    ["an unknown team", create({ teamId: ID }), badInput],
    ["no title", create({ title: "" }), badInput],
    ["null for the title", create({ title: null }), badInput],
    ["an id that is no UUID", create({ id: "canary" }), badInput],
    ["an id of version 1", create({ id: "3f2b9c1e-7d44-1a7e-9a55-0c9c6f0f2e11" }), badInput],
    ["an id of another variant", create({ id: "3f2b9c1e-7d44-4a7e-ca55-0c9c6f0f2e11" }), badInput],
  ])("%s", async (_row, body, expected) => {
    expect(await post(body)).toEqual(expected);
    expect(tracker.issues).toHaveLength(0);
  });

  const comment = (changes: object) => {
    const text =
      "mutation C($input: CommentCreateInput!) { commentCreate(input: $input) { success comment { id } } }";
    return query(text, { input: { id: ID, issueId: ID, body: "canary", ...changes } });
  };

  test.each<[string, object, [number, string]]>([
    ["an unknown input key", { title: "canary" }, invalid],
    ["a text as a number", { body: 1 }, invalid],
    ["no text", { body: " " }, badInput],
    ["null for the text", { body: null }, badInput],
    ["no issue", { issueId: undefined }, badInput],
    ["an issue that it has not", {}, badInput],
    ["an id of version 1", { id: "3f2b9c1e-7d44-1a7e-9a55-0c9c6f0f2e11" }, badInput],
  ])("a comment with %s", async (_row, changes, expected) => {
    expect(await post(comment(changes))).toEqual(expected);
    expect(tracker.comments).toHaveLength(0);
  });

  test("another content type", async () => {
    expect(await post(create({}), { "content-type": "text/plain" })).toEqual(invalid);
  });

  test("a personal key as a bearer, no key, and another one", async () => {
    expect(await post(create({}), { authorization: `Bearer ${TOKEN}` })).toEqual([
      400,
      "AUTHENTICATION_ERROR",
    ]);
    expect(await post(create({}), { authorization: "" })).toEqual([401, "AUTHENTICATION_ERROR"]);
    expect(await post(create({}), { authorization: "lin_api_x" })).toEqual([401, "AUTHENTICATION_ERROR"]);
    expect(tracker.issues).toHaveLength(0);
  });

  test("an id twice, and takes one creation of each", async () => {
    expect(await post(create({}))).toEqual([200, "none"]);
    expect(await post(create({ title: "another" }))).toEqual(badInput);
    expect(tracker.issues.map(({ title }) => title)).toEqual(["canary"]);
    expect(await post(comment({}))).toEqual([200, "none"]);
    expect(await post(comment({ body: "another" }))).toEqual(badInput);
    expect(tracker.comments.map(({ body }) => body)).toEqual(["canary"]);
  });
});
