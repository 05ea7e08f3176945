/**
 * Characters that JSON leaves as they are and a terminal obeys or hides: delete and the second set of control
 * characters, direction marks and overrides, separators of lines, invisible ones.
 */
const OBEYED = /[\u007F-\u009F\u061C\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB]/g;

/** `value` as one line of JSON that a terminal only shows, whatever names of tenants are in it; the value is the same. */
export function jsonLine(value: unknown): string {
  return `${JSON.stringify(value).replace(OBEYED, escaped)}\n`;
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
