/** The issue tracker's rules for the values of variables, as far as its contract tells them. */
import { hasExactly } from "./standin.ts";

/** The input of a creation that keeps the rules. */
export type IssueInput = {
  teamId: string;
  id?: string;
  title: string;
  description?: string | null;
  priority?: number;
};

/** The input of a comment that keeps the rules. */
export type CommentInput = { id?: string; issueId: string; body: string };

/** What is wrong: with the type, so that the query is invalid, or with the value. */
export type InputProblem = { kind: "type" | "value"; message: string };

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const UUID_4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const TEXTS = ["teamId", "id", "title", "description", "stateId", "assigneeId", "parentId", "projectId"];
const FIELDS = new Set([...TEXTS, "priority", "labelIds", "subscriberIds", "dueDate", "createdAt"]);
const COMMENT_TEXTS = ["id", "issueId", "body", "parentId", "createdAt"];

/** What is wrong with the value of a variable of this type; null when nothing is. */
export function inputProblem(type: string, value: unknown, teamId: string): InputProblem | null {
  switch (type) {
    case "String":
      return typeof value === "string" ? null : wrongType("String cannot represent a non string value");
    case "IssueFilter":
    case "TeamFilter":
      return filterProblem(value);
    case "IssueCreateInput":
      return typeProblem(value) ?? valueProblem(value as IssueInput, teamId);
    case "CommentCreateInput":
      return commentTypeProblem(value) ?? commentValueProblem(value as CommentInput);
    default:
      return wrongType(`Unknown type "${type}"`);
  }
}

function filterProblem(value: unknown): InputProblem | null {
  if (!hasExactly(value, ["id"]) || !hasExactly(value.id, ["eq"]) || typeof value.id.eq !== "string")
    return wrongType("Expected a filter by id");
  return UUID.test(value.id.eq) ? null : wrongValue("id must be a UUID");
}

function typeProblem(value: unknown): InputProblem | null {
  if (typeof value !== "object" || value === null) return wrongType("Expected an input object");
  const input = value as Record<string, unknown>;
  const unknown = Object.keys(input).find((key) => !FIELDS.has(key));
  if (unknown !== undefined) return wrongType(`Field "${unknown}" is not defined by type "IssueCreateInput"`);
  if (typeof input.teamId !== "string") return wrongType('Field "teamId" of required type "String!"');
  const noText = TEXTS.find((key) => typeof (input[key] ?? "") !== "string");
  if (noText !== undefined) return wrongType(`String cannot represent the value of "${noText}"`);
  return Number.isInteger(input.priority ?? 0) ? null : wrongType("Int cannot represent a non-integer value");
}

function valueProblem(
  { id, title, priority = 0, ...input }: IssueInput,
  teamId: string,
): InputProblem | null {
  if (id !== undefined && !UUID_4.test(id)) return wrongValue("id must be a UUID");
  if (input.teamId !== teamId) return wrongValue("Could not find referenced Team.");
  if (typeof title !== "string" || title.trim() === "") return wrongValue("title should not be empty");
  return priority >= 0 && priority <= 4 ? null : wrongValue("priority must be between 0 and 4");
}

function commentTypeProblem(value: unknown): InputProblem | null {
  if (typeof value !== "object" || value === null) return wrongType("Expected an input object");
  for (const [key, text] of Object.entries(value)) {
    if (!COMMENT_TEXTS.includes(key))
      return wrongType(`Field "${key}" is not defined by type "CommentCreateInput"`);
    if (typeof text !== "string") return wrongType(`String cannot represent the value of "${key}"`);
  }
  return null;
}

// The schema requires none of the fields, the peer itself a text and something to comment on.
function commentValueProblem({ id, issueId, body }: Partial<CommentInput>): InputProblem | null {
  if (id !== undefined && !UUID_4.test(id)) return wrongValue("id must be a UUID");
  if (issueId === undefined) return wrongValue("issueId should not be empty");
  return body === undefined || body.trim() === "" ? wrongValue("body should not be empty") : null;
}

function wrongType(message: string): InputProblem {
  return { kind: "type", message };
}

function wrongValue(message: string): InputProblem {
  return { kind: "value", message };
}
