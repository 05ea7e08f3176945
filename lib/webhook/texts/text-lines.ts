import { singleLine } from "../../text/single-line.ts";

/** The lines of a text, each as `singleLine` returns it; lines that show nothing are left out. */
export function textLines(text: string): string[] {
  return text
    .split(/\r\n|[\n\v\f\r\u0085\u2028\u2029]/u)
    .map(singleLine)
    .filter((line) => line !== "");
}
