import { type Html, html } from "../../../text/html.ts";
import type { ChangeView } from "../figures/change.ts";
import { ARROWS, STYLE, TONE_COLOURS } from "./style.ts";

const CLASSES: Record<ChangeView["tone"], string> = { good: "good", bad: "bad", plain: "muted" };

/** Behind "a": a narrow column breaks "16.110 a mais" before its last two words, never between them. */
const UNBROKEN = "\u00a0";

/** A change below a large figure: words after a sign that is for the eyes alone. */
export function mainChangeHtml({ trend, tone, text, percent }: ChangeView): Html {
  const style = `${STYLE.mainChange};color:${TONE_COLOURS[tone]}`;
  const change = text.replace(/ a (?=mais$|menos$)/, ` a${UNBROKEN}`);
  const words = percent === null ? change : `${change} (${percent})`;
  if (trend === "unknown") return html`<p class="${CLASSES[tone]}" style="${style}">${words}</p>`;
  return html`<p class="${CLASSES[tone]}" style="${style}"><span aria-hidden="true">${ARROWS[trend]} </span>${words}</p>`;
}

/** A change beside a small figure; `wrap` is what its style says about breaks. */
export function smallChangeHtml({ trend, tone, text }: ChangeView, wrap: string): Html {
  const style = `${STYLE.smallChange}${wrap};color:${TONE_COLOURS[tone]}`;
  if (trend === "unknown") return html`<td class="${CLASSES[tone]}" style="${style}">${text}</td>`;
  return html`<td class="${CLASSES[tone]}" style="${style}"><span aria-hidden="true">${ARROWS[trend]} </span>${text}</td>`;
}
