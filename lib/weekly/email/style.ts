import { type Html, html } from "../../text/html.ts";

// Contrast of every pair of text and ground below is 4.5 or more (WCAG AA), in light and in dark.
const FONT = "font-family:-apple-system,BlinkMacSystemFont,Segoe UI,Roboto,Helvetica,Arial,sans-serif";
const BREAK = "overflow-wrap:anywhere;word-break:break-word";

/** The colours that carry meaning in the score bar; a gap parts them for eyes that do not tell them apart. */
export const BAR_COLOURS = {
  score: "#5fd3bc",
  gain: "#d3f9c9",
  loss: "#ec9a4a",
  track: "#2f6361",
  gap: "#0d3b3c",
};

/** The colour of the line that says where the score went. */
export const TREND_COLOURS = { up: "#d3f9c9", down: "#ffd9ae", flat: "#d6ece8", unknown: "#d6ece8" };

/** Inline styles, by what they are for; the classes beside them in the markup are for the dark scheme and for phones. */
export const STYLE = {
  page: `margin:0;padding:0;background-color:#eef2f4;${FONT};-webkit-text-size-adjust:100%`,
  preheader:
    "display:none;max-height:0;max-width:0;overflow:hidden;mso-hide:all;font-size:1px;line-height:1px;opacity:0",
  column: "width:100%;max-width:600px;margin:0 auto",
  hero: `background-color:#0d3b3c;border-radius:16px;padding:32px 32px 28px;color:#ffffff;${FONT}`,
  eyebrow: "margin:0;font-size:14px;line-height:20px;color:#bfe3dc",
  title: "margin:2px 0 0;font-size:24px;line-height:30px;font-weight:700;color:#ffffff",
  scoreLabel: "margin:28px 0 0;font-size:14px;line-height:20px;color:#bfe3dc",
  score: "margin:0;font-size:68px;line-height:74px;font-weight:700;letter-spacing:-2px;color:#ffffff",
  scoreOutOf: "font-size:24px;font-weight:400;letter-spacing:0;color:#bfe3dc",
  noScore: "margin:4px 0 0;font-size:22px;line-height:29px;font-weight:700;color:#ffffff",
  heroNote: "margin:12px 0 0;font-size:15px;line-height:22px;color:#d6ece8",
  barScale: "padding-top:4px;font-size:12px;line-height:16px;color:#bfe3dc",
  panel: `background-color:#ffffff;border-radius:16px;padding:28px 32px;color:#17252d;${FONT}`,
  gap: "height:12px;line-height:12px;font-size:0",
  h2: "margin:0 0 12px;font-size:20px;line-height:26px;font-weight:700;color:#17252d",
  readingName: "margin:16px 0 4px;font-size:14px;line-height:20px;font-weight:700;color:#0b645e",
  readingList: "margin:0;padding:0 0 0 20px",
  readingItem: `margin:0 0 6px;font-size:16px;line-height:24px;color:#17252d;${BREAK}`,
  text: `margin:0;font-size:16px;line-height:24px;color:#17252d;${BREAK}`,
  note: `margin:0;font-size:14px;line-height:21px;color:#51606b;${BREAK}`,
  coverage: `margin:18px 0 0;padding:12px 14px;background-color:#f1f5f6;border-radius:10px;font-size:14px;line-height:21px;color:#46545e;${BREAK}`,
  card: "border:1px solid #dde4e8;border-radius:12px;padding:18px 20px",
  cardName: "margin:0;font-size:17px;line-height:24px;font-weight:700;color:#17252d",
  pill: "display:inline-block;padding:3px 10px;border-radius:12px;font-size:12px;line-height:18px;font-weight:600;white-space:nowrap",
  figureLabel:
    "padding:8px 8px 8px 0;border-top:1px solid #e7ecef;font-size:14px;line-height:20px;font-weight:400;color:#51606b;text-align:left;word-break:break-word",
  figureValue:
    "padding:8px 0;border-top:1px solid #e7ecef;font-size:15px;line-height:20px;font-weight:700;color:#17252d;text-align:right",
  figureAbsent:
    "padding:8px 0;border-top:1px solid #e7ecef;font-size:14px;line-height:20px;font-style:italic;color:#51606b;text-align:right",
  stepNumber:
    "width:28px;height:28px;border-radius:14px;background-color:#dff1ee;font-size:14px;line-height:28px;font-weight:700;color:#0b5a55;text-align:center",
  stepLabel: `padding:2px 0 2px 12px;font-size:16px;line-height:24px;color:#17252d;${BREAK}`,
  link: "color:#0b645e;text-decoration:underline",
  button:
    "display:block;padding:15px 28px;font-size:16px;line-height:22px;font-weight:700;color:#ffffff;text-decoration:none;text-align:center",
  buttonCell: "background-color:#0b6b65;border-radius:12px",
  footer: `padding:20px 32px 32px;font-size:13px;line-height:20px;color:#55636d;text-align:center;${FONT}`,
} as const;

/** The pill of a channel, in a colour for how much of its data is there; each has a class for the dark scheme. */
export const PILL_STYLE = {
  complete: `${STYLE.pill};background-color:#daf2e5;color:#0c5636`,
  partial: `${STYLE.pill};background-color:#fdeccd;color:#704404`,
  unavailable: `${STYLE.pill};background-color:#e8edf0;color:#46545e`,
} as const;

/**
 * The head's style sheet: the dark scheme, and one column below 480 px.
 *
 * Shape: a client that drops it shows the inline styles, which are complete. Outlook's own dark scheme is reached
 *        through `data-ogsc`.
 */
export const STYLE_SHEET: Html = html`<style>
:root{color-scheme:light dark;supported-color-schemes:light dark}
a{text-underline-offset:2px}
@media (max-width:479px){
.gutter{padding-left:8px!important;padding-right:8px!important}
.hero{padding:26px 20px 24px!important}
.panel{padding:24px 16px!important}
.card{padding:16px!important}
.half{display:block!important;width:100%!important;padding:0!important}
.footer{padding:20px 16px 28px!important}
.button{width:100%!important}
}
@media (prefers-color-scheme:dark){
.page{background-color:#0c1418!important}
.panel{background-color:#162127!important;color:#e6edf1!important}
.ink{color:#e6edf1!important}
.muted{color:#a9b8c2!important}
.accent{color:#7fd8c8!important}
.box{background-color:#1e2b32!important;color:#c3d0d8!important}
.line{border-color:#2d3c45!important}
.pill-complete{background-color:#134231!important;color:#a6ebc8!important}
.pill-partial{background-color:#4a3610!important;color:#f8d691!important}
.pill-unavailable{background-color:#2b3941!important;color:#c3d0d8!important}
.number{background-color:#17423f!important;color:#a4e6da!important}
}
[data-ogsc] .ink{color:#e6edf1!important}
[data-ogsc] .muted{color:#a9b8c2!important}
[data-ogsc] .accent{color:#7fd8c8!important}
[data-ogsb] .page{background-color:#0c1418!important}
[data-ogsb] .panel{background-color:#162127!important}
</style>`;
