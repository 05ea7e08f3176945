import { html as escapedHtml } from "hono/html";

/** Markup that is safe to send. Only `html` makes it, so a plain string never passes for markup. */
export type Html = { readonly isEscaped: true; toString(): string };

/** What may stand between `${` and `}` in `html`. */
export type HtmlValue = string | number | Html | readonly Html[] | null;

/**
 * A template tag for markup: the template is markup, and what is interpolated is escaped.
 *
 * Shape: texts and numbers are escaped, `Html` and lists of it go in as they are, null leaves nothing.
 */
export function html(markup: TemplateStringsArray, ...values: HtmlValue[]): Html {
  // hono's tag returns a promise only where a value is or gives one, which these types exclude.
  return escapedHtml(markup, ...values) as Exclude<ReturnType<typeof escapedHtml>, Promise<unknown>>;
}
