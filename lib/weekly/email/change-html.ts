import { type Html, html } from "../../text/html.ts";
import type { ChangeView } from "./change.ts";
import { TONE_COLOURS } from "./style.ts";

const ARROWS: Record<ChangeView["trend"], string> = { up: "▲ ", down: "▼ ", flat: "= ", unknown: "" };

const CLASSES: Record<ChangeView["tone"], string> = { good: "good", bad: "bad", plain: "muted" };

/** The attributes of what holds a change: its class for the dark scheme, and `style` in the colour of its tone. */
export function changeAttributes({ tone }: ChangeView, style: string): Html {
  return html`class="${CLASSES[tone]}" style="${style};color:${TONE_COLOURS[tone]}"`;
}

/** A change in words, after a sign that is for the eyes alone. */
export function changeHtml({ trend, text }: ChangeView, percent: string | null): Html {
  const arrow = ARROWS[trend];
  const sign = arrow === "" ? null : html`<span aria-hidden="true">${arrow}</span>`;
  return html`${sign}${text}${percent === null ? null : ` (${percent})`}`;
}
