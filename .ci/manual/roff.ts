import { wrapText } from "../../lib/text/wrap.ts";

/** A line of the source, which a reader of it may want to see. */
const WIDTH = 80;

/** Plain text as roff prints it: nothing in it is a macro, every hyphen can be copied into a terminal. */
export function roff(text: string): string {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll("'", "\\(aq")
    .replaceAll("`", "\\(ga")
    .replaceAll("^", "\\(ha")
    .replaceAll("~", "\\(ti")
    .replace(/[^\n -~]/gu, (character) => `\\[u${hex(character)}]`)
    .replace(/^\./gm, "\\&.");
}

/** Prose of help texts: what stands between backticks is bold. */
export function roffProse(text: string): string {
  return text
    .split(/`([^`\n]+)`/)
    .map((part, at) => (at % 2 === 0 ? roff(part) : bold(part)))
    .join("");
}

/** The same in lines; a line that would begin like a macro is kept from it. */
export function roffLines(text: string): string {
  const lines = wrapText(roffProse(text), WIDTH - "\\&".length);
  return lines.map((line) => line.replace(/^\./, "\\&.")).join("\n");
}

/** Text in bold. */
export function bold(text: string): string {
  return `\\fB${roff(text)}\\fR`;
}

/** Text in italics, for what a person puts in its place. */
export function italic(text: string): string {
  return `\\fI${roff(text)}\\fR`;
}

function hex(character: string): string {
  return (character.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, "0");
}
