/** As much of GraphQL as a client with static queries needs; everything else is refused, string literals first. */

/** One selected field; `variables` maps an argument to the variable that it takes its value from. */
export type Field = { name: string; variables: Map<string, string>; fields: Field[] };

/** A query that keeps the rules of the language and of the schema. */
export type Operation = { kind: "query" | "mutation"; declared: Map<string, string>; fields: Field[] };

type ObjectType = Record<string, { type?: string; args?: Record<string, string> }>;

const scalars = (...names: string[]): ObjectType => Object.fromEntries(names.map((name) => [name, {}]));
const list = (filter: string) => ({ filter, includeArchived: "Boolean", first: "Int" });

const SCHEMA: Record<string, ObjectType> = {
  Mutation: {
    issueCreate: { type: "IssuePayload", args: { input: "IssueCreateInput!" } },
    commentCreate: { type: "CommentPayload", args: { input: "CommentCreateInput!" } },
  },
  Query: {
    issue: { type: "Issue", args: { id: "String!" } },
    issues: { type: "IssueConnection", args: list("IssueFilter") },
    teams: { type: "TeamConnection", args: list("TeamFilter") },
    viewer: { type: "User" },
  },
  IssuePayload: { ...scalars("success", "lastSyncId"), issue: { type: "Issue" } },
  CommentPayload: { ...scalars("success", "lastSyncId"), comment: { type: "Comment" } },
  Comment: scalars("id", "body", "createdAt", "issueId", "url"),
  Issue: scalars("id", "identifier", "number", "url", "title", "description", "priority", "createdAt"),
  IssueConnection: { nodes: { type: "Issue" } },
  TeamConnection: { nodes: { type: "Team" } },
  Team: scalars("id", "key", "name"),
  User: scalars("id"),
};

/**
 * Reads the one operation of a query and checks it against the schema.
 *
 * Errors: throws what is wrong with it, as text for the answer.
 */
export function parseOperation(query: string): Operation {
  const tokens = tokensOf(query);
  const kind = tokens.shift();
  if (kind !== "query" && kind !== "mutation") throw new Error("Expected a named query or mutation");
  if (!isName(tokens[0])) throw new Error("Expected the operation's name");
  tokens.shift();
  const declared = tokens[0] === "(" ? declarations(tokens) : new Map<string, string>();
  const used = new Set<string>();
  const fields = selection(tokens, kind === "query" ? "Query" : "Mutation", declared, used);
  if (tokens.length > 0) throw new Error("Expected one operation");
  const unused = [...declared.keys()].find((name) => !used.has(name));
  if (unused !== undefined) throw new Error(`Variable "$${unused}" is never used`);
  return { kind, declared, fields };
}

// The real peer takes string literals; here they are how a text of the caller would get into the query.
function tokensOf(query: string): string[] {
  if (query.includes('"')) throw new Error("A string literal in the query");
  const tokens = query.match(/[A-Za-z_]\w*|\d+|[^\s,]/g) ?? [];
  const odd = tokens.find((token) => !/^[\w{}()$:!]+$/.test(token));
  if (odd !== undefined) throw new Error(`Unexpected character: ${odd}`);
  return tokens;
}

function isName(token: string | undefined): token is string {
  return token !== undefined && /^[A-Za-z_]\w*$/.test(token);
}

function expectNext(tokens: string[], wanted: string): void {
  const found = tokens.shift();
  if (found !== wanted) throw new Error(`Expected ${wanted}, found ${found ?? "the end"}`);
}

function nameFrom(tokens: string[]): string {
  const name = tokens.shift();
  if (!isName(name)) throw new Error(`Expected a name, found ${name ?? "the end"}`);
  return name;
}

function declarations(tokens: string[]): Map<string, string> {
  const declared = new Map<string, string>();
  expectNext(tokens, "(");
  while (tokens[0] !== ")") {
    expectNext(tokens, "$");
    const name = nameFrom(tokens);
    expectNext(tokens, ":");
    const type = nameFrom(tokens);
    const isRequired = tokens[0] === "!";
    if (isRequired) tokens.shift();
    declared.set(name, isRequired ? `${type}!` : type);
  }
  tokens.shift();
  return declared;
}

function selection(
  tokens: string[],
  typeName: string,
  declared: Map<string, string>,
  used: Set<string>,
): Field[] {
  const fields: Field[] = [];
  expectNext(tokens, "{");
  while (tokens[0] !== "}") {
    const name = nameFrom(tokens);
    const known = Object.hasOwn(SCHEMA[typeName]!, name) ? SCHEMA[typeName]![name] : undefined;
    if (known === undefined) throw new Error(`Cannot query field "${name}" on type "${typeName}"`);
    const variables = argumentsOf(tokens, known.args ?? {}, declared);
    for (const variable of variables.values()) used.add(variable);
    const hasFields = tokens[0] === "{";
    if (hasFields !== (known.type !== undefined)) throw new Error(`Wrong selection of "${name}"`);
    const inner = known.type === undefined ? [] : selection(tokens, known.type, declared, used);
    fields.push({ name, variables, fields: inner });
  }
  tokens.shift();
  if (fields.length === 0) throw new Error("An empty selection");
  return fields;
}

function argumentsOf(
  tokens: string[],
  known: Record<string, string>,
  declared: Map<string, string>,
): Map<string, string> {
  const variables = new Map<string, string>();
  const given = new Set<string>();
  if (tokens[0] === "(") {
    tokens.shift();
    while (tokens.at(0) !== ")") {
      const name = nameFrom(tokens);
      const type = known[name];
      if (type === undefined) throw new Error(`Unknown argument "${name}"`);
      expectNext(tokens, ":");
      given.add(name);
      if (tokens.at(0) === "$") variables.set(name, variableOf(tokens, type, declared));
      else literal(tokens, type);
    }
    tokens.shift();
  }
  const missing = Object.keys(known).find((name) => known[name]!.endsWith("!") && !given.has(name));
  if (missing !== undefined) throw new Error(`Argument "${missing}" is required`);
  return variables;
}

function variableOf(tokens: string[], type: string, declared: Map<string, string>): string {
  tokens.shift();
  const name = nameFrom(tokens);
  const own = declared.get(name);
  if (own !== type && own !== `${type}!`) throw new Error(`Variable "$${name}" is not of type "${type}"`);
  return name;
}

function literal(tokens: string[], type: string): void {
  const text = tokens.shift() ?? "";
  const isRight = type === "Boolean" ? /^(true|false)$/.test(text) : type === "Int" && /^\d+$/.test(text);
  if (!isRight) throw new Error(`Expected a value of type "${type}", found ${text}`);
}
