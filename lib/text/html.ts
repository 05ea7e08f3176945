import { escapeHtml } from "./escape.ts";

/** Markup that is known to be safe: only `html` makes it, so a plain string can never pass for it. */
export class Html {
  readonly #markup: string;

  constructor(markup: string) {
    this.#markup = markup;
  }

  toString(): string {
    return this.#markup;
  }
}

/** What may stand between `${` and `}` in `html`. */
export type HtmlValue = string | number | Html | readonly Html[] | null;

/**
 * A template tag for markup: what is written is markup, every interpolated text is escaped.
 *
 * Shape: text and numbers are escaped, `Html` and lists of it go in as they are, null leaves nothing.
 */
export function html(markup: TemplateStringsArray, ...values: HtmlValue[]): Html {
  return new Html(String.raw({ raw: markup }, ...values.map(toMarkup)));
}

function toMarkup(value: HtmlValue): string {
  if (value === null) return "";
  if (typeof value === "string" || typeof value === "number") return escapeHtml(String(value));
  return value instanceof Html ? value.toString() : value.join("");
}
