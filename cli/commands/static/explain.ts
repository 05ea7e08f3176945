/**
 * `opsctl explain <code>`: what `docs/codes.md` says about a code; ends with 2 for a code that opsctl does not have.
 *
 * JSON:   `code`, `explanations` (each `section` of the document, `codes` that share it, `meaning`).
 */
import codesDocument from "../../../docs/codes.md" with { type: "text" };
import { codeBook, type Explanation } from "../../../lib/codes/explain.ts";
import { renderExplanations } from "../../../lib/codes/render.ts";
import { nearest } from "../../../lib/platform/nearest.ts";
import { helpWidth } from "../../args/help.ts";
import { argument, JSON_OPTION, type ValueCheck } from "../../args/options.ts";
import { defineStaticCommand } from "../../framework/command.ts";

/** The codes of this program, as docs/codes.md has them. */
export const codes = codeBook(codesDocument);

const aCode: ValueCheck = (value) => {
  if (isKnown(value)) return undefined;
  const otherCase = [value.toUpperCase(), value.toLowerCase()].find(isKnown);
  const all = codes.codes().map(({ code }) => code);
  const near = otherCase ?? nearest(value, all);
  return `is no code of opsctl; ${near === undefined ? "docs/codes.md lists them all" : `did you mean ${near}?`}`;
};

/** The command; see the head of this file. */
export const explain = defineStaticCommand({
  notes: "For the codes of errors, reports, deliveries and alerts, and for exit statuses. Needs no network.",
  args: {
    code: argument("The code, letter by letter", { required: true, values: "codes", check: aCode }),
    json: JSON_OPTION,
  },
  example: "opsctl explain APP_HTTP_401",

  async answer([code = ""]) {
    const explanations = explanationsOf(code);
    const text = renderExplanations(code, explanations, await helpWidth("stdout"));
    return { fields: { code, explanations }, text };
  },
});

function isKnown(code: string): boolean {
  return explanationsOf(code).length > 0;
}

/** Found when the code is checked, used again for the answer. */
const found = new Map<string, Explanation[]>();

function explanationsOf(code: string): Explanation[] {
  const explanations = found.get(code) ?? codes.explain(code);
  found.set(code, explanations);
  return explanations;
}
