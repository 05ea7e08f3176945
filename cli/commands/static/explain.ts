import codesDocument from "../../../docs/codes.md" with { type: "text" };
import { codeBook, renderExplanations } from "../../../lib/codes/explain.ts";
import { nearest } from "../../../lib/platform/nearest.ts";
import { helpWidth } from "../../args/help.ts";
import { argument, JSON_OPTION, type ValueCheck } from "../../args/options.ts";
import type { Command } from "../../framework/command.ts";

/** The codes of this program, as docs/codes.md has them. */
export const codes = codeBook(codesDocument);

const aCode: ValueCheck = (value) => {
  const isKnown = (code: string) => codes.explain(code).length > 0;
  if (isKnown(value)) return undefined;
  const otherCase = [value.toUpperCase(), value.toLowerCase()].find(isKnown);
  const all = codes.codes().map(({ code }) => code);
  const near = otherCase ?? nearest(value, all);
  return `is no code of opsctl; ${near === undefined ? "docs/codes.md lists them all" : `did you mean ${near}?`}`;
};

/** `opsctl explain`: what `docs/codes.md` says about a code. */
export const explain: Command = {
  notes: "For the codes of errors, reports, deliveries and alerts, and for exit statuses. Needs no network.",
  args: {
    code: argument("The code, letter by letter", { required: true, values: "codes", check: aCode }),
    json: JSON_OPTION,
  },
  example: "opsctl explain APP_HTTP_401",

  async answer([code = ""]) {
    const explanations = codes.explain(code);
    const text = renderExplanations(code, explanations, await helpWidth("stdout"));
    return { fields: { code, explanations }, text };
  },
};
