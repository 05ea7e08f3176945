import codesDocument from "../../docs/codes.md" with { type: "text" };
import { codeBook } from "../../lib/codes/explain.ts";

/** The codes of this program, as docs/codes.md has them. */
export const codes = codeBook(codesDocument);
