/** The text form of a UUID in lower case, or undefined when `text` is not one. */
export function parseUuid(text: string): string | undefined {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text) ? text.toLowerCase() : undefined;
}
