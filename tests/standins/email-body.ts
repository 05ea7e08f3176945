/** The e-mail provider's rules for a body, as far as its contract tells them. */
import type { Answer, LedgerEntry } from "./standin.ts";

/** A body that keeps the rules. */
export type EmailBody = {
  from: string;
  to: string | string[];
  subject: string;
  html?: string;
  text?: string;
  reply_to?: string | string[];
  headers?: Record<string, string>;
  tags?: { name: string; value: string }[];
};

/** The provider's error answer. */
export function refusal(statusCode: number, name: string, message: string): Answer {
  return { status: statusCode, json: { statusCode, message, name } };
}

const ADDRESS = /^[^\s@<>,;"]+@[^\s@<>,;"]+\.[^\s@<>,;"]+$/;
const FIELDS = new Set(["from", "to", "cc", "bcc", "reply_to", "subject", "html", "text", "headers", "tags"]);

/** What is wrong with the body, as the provider would answer it; null when nothing is. */
export function bodyProblem(entry: LedgerEntry): Answer | null {
  const body = entry.body;
  if (
    !/^application\/json\b/.test(entry.headers["content-type"] ?? "") ||
    typeof body !== "object" ||
    body === null
  )
    return refusal(400, "validation_error", "The request body is not JSON");
  const fields = body as Record<string, unknown>;
  const unknown = Object.keys(fields).find((key) => !FIELDS.has(key));
  if (unknown !== undefined) return refusal(422, "invalid_parameter", `Unknown field ${unknown}`);
  const missing = ["from", "to", "subject"].find((key) => fields[key] === undefined);
  if (missing !== undefined) return refusal(422, "missing_required_field", `Missing \`${missing}\` field`);
  if (fields.html === undefined && fields.text === undefined)
    return refusal(422, "missing_required_field", "Missing `html` or `text` field");
  if (!isSender(fields.from)) return refusal(422, "invalid_from_address", "Invalid `from` field");
  if (!isAddressList(fields.to) || !isAddressList(fields.reply_to ?? fields.to))
    return refusal(422, "validation_error", "Invalid `to` or `reply_to` field");
  if (!areHeaders(fields.headers ?? {})) return refusal(422, "invalid_parameter", "Invalid `headers` field");
  if (!areTags(fields.tags ?? []))
    return refusal(
      422,
      "validation_error",
      "Tags should only contain ASCII letters, numbers, underscores, or dashes",
    );
  return null;
}

// `a@b` or `Name <a@b>`; a name in double quotes may hold anything but quotes, a bare one no mark that could begin or
// separate an address.
function isSender(value: unknown): boolean {
  if (typeof value !== "string" || /\p{Cc}/u.test(value)) return false;
  const named = /^(?:"[^"\\]*"|[^"<>@,;:()[\]\\]+) <([^<>]+)>$/.exec(value);
  return ADDRESS.test(named?.[1] ?? value);
}

function isAddressList(value: unknown): boolean {
  const list = Array.isArray(value) ? value : [value];
  return (
    list.length >= 1 &&
    list.length <= 50 &&
    list.every((item) => typeof item === "string" && ADDRESS.test(item))
  );
}

// Names and values as a message has them, and one address in angle brackets in the header that mail clients act on.
function areHeaders(value: unknown): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.entries(value).every(
    ([name, text]) =>
      /^[A-Za-z0-9-]+$/.test(name) &&
      typeof text === "string" &&
      /^[ -~]{1,900}$/.test(text) &&
      (name !== "List-Unsubscribe" || /^<(https:\/\/|mailto:)[^\s<>,"]+>$/.test(text)),
  );
}

function areTags(value: unknown): boolean {
  const isWord = (text: unknown) => typeof text === "string" && /^[A-Za-z0-9_-]{1,256}$/.test(text);
  return Array.isArray(value) && value.every((tag) => isWord(tag?.name) && isWord(tag?.value));
}
