/**
 * `opsctl explain <code>`: what docs/codes.md says about a code or an exit status, without the document.
 *
 * Reads:  nothing: the tables are in the program.
 * Writes: nothing.
 * Calls:  nothing.
 * Env:    COLUMNS.
 * Exits:  0 done, 2 usage, also for a code that opsctl does not have.
 *
 * JSON:   `command`, `status`, `exitCode`, `error`, `code`, `explanations` (each `section` of the document, `codes`
 *         that share it, `meaning`).
 */
import process from "node:process";
import type { Explanation } from "../../../lib/codes/explain.ts";
import { renderExplanations } from "../../../lib/codes/render.ts";
import { nearest } from "../../../lib/platform/nearest.ts";
import { defineAbout, type ValueCheck } from "../../framework/command.ts";
import { helpWidth } from "../../framework/usage/help-width.ts";
import { codes } from "../../wiring/codes.ts";

const aCode: ValueCheck = (value) => {
  if (isKnown(value)) return undefined;
  const near =
    [value.toUpperCase(), value.toLowerCase()].find(isKnown) ??
    nearest(
      value,
      codes.codes().map(({ code }) => code),
    );
  return `is no code of opsctl; ${near === undefined ? "docs/codes.md lists them all" : `did you mean ${near}?`}`;
};

/** The command; see the head of this file. */
export const explain = defineAbout({
  meta: { name: "explain", description: "Tell what a code means, and what to do" },
  notes: "For the codes of errors, reports, deliveries and alerts, and for exit statuses. Needs no network.",
  args: {
    code: { type: "positional", required: true, description: "The code, letter by letter" },
    json: { type: "boolean", description: "Print the result as one line of JSON" },
  },
  values: { code: "codes" },
  checks: { code: aCode },
  example: "opsctl explain APP_HTTP_401",

  async about([code = ""]) {
    const explanations = explanationsOf(code);
    return {
      fields: { code, explanations },
      text: renderExplanations(code, explanations, await helpWidth(process.env)),
    };
  },
});

function isKnown(code: string): boolean {
  return explanationsOf(code).length > 0;
}

/** Asked once when the code is checked, and again for the answer. */
const asked = new Map<string, Explanation[]>();

function explanationsOf(code: string): Explanation[] {
  const found = asked.get(code) ?? codes.explain(code);
  asked.set(code, found);
  return found;
}
