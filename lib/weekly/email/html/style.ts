import { type Html, html } from "../../../text/html.ts";

// Contrast of every pair of text and ground below is 4.5 or more (WCAG AA), in light and in dark: the tests compute it.
const FONT = "font-family:-apple-system,BlinkMacSystemFont,Segoe UI,Roboto,Helvetica,Arial,sans-serif";
const BREAK = "overflow-wrap:anywhere;word-break:break-word";

/** The colours of the weeks' bars: this week, those before it, and the line under a week without a score. */
export const BAR_COLOURS = { now: "#5fd3bc", before: "#448f89", empty: "#448f89" };

/** The colour of the line that says where the score went. */
export const TREND_COLOURS = { up: "#d3f9c9", down: "#ffd9ae", flat: "#d6ece8" };

/** The colour of a figure's change by whether it is good news; the words beside it say the same. */
export const TONE_COLOURS = { good: "#0c6a3c", bad: "#a03a10", plain: "#51606b" };

/** The sign before a change, for the eyes alone. */
export const ARROWS = { up: "▲", down: "▼", flat: "=" };

/** The grounds that also stand in attributes, which Outlook reads. */
export const GROUNDS = { page: "#eef2f4", hero: "#0d3b3c", number: "#dff1ee" };

/**
 * Inline styles, by what they are for; the classes beside them in the markup are for the dark scheme and for phones.
 *
 * Shape:     paddings are those of cells alone, which Outlook keeps; everything else has margins. A cell's size is in
 *            its attributes.
 * Behaviour: a cell passes its font on to the paragraphs in it. No table does so to its cells, because Outlook does not
 *            take it, and neither does the page, because web mail may have a font of its own for cells. Each text says
 *            its colour itself, beside the class that changes it in the dark scheme.
 */
export const STYLE = {
  page: `margin:0;padding:0;background-color:${GROUNDS.page};${FONT};-webkit-text-size-adjust:100%`,
  preheader: `display:none;max-height:0;max-width:0;overflow:hidden;mso-hide:all;font-size:1px;line-height:1px;color:${GROUNDS.page}`,
  column: "width:100%;max-width:600px;margin:0 auto",
  gutter: "padding:24px 16px 0",
  hero: `background-color:${GROUNDS.hero};border-radius:18px;padding:32px;color:#ffffff;${FONT}`,
  name: `margin:0 0 14px;font-size:18px;line-height:24px;font-weight:700;color:#ffffff;${BREAK}`,
  titleAlone: "margin:0 0 2px;font-size:22px;line-height:28px;font-weight:700;color:#ffffff",
  title: "margin:0;font-size:15px;line-height:22px;font-weight:400;color:#bfe3dc",
  days: "margin:0;font-size:15px;line-height:22px;color:#bfe3dc",
  scoreLabel: "margin:18px 0 0;font-size:14px;line-height:20px;color:#bfe3dc",
  score: "margin:0;font-size:72px;line-height:76px;font-weight:700;letter-spacing:-2px;color:#ffffff",
  scoreOutOf: "font-size:24px;font-weight:400;letter-spacing:0;color:#bfe3dc",
  scoreChange: "margin:4px 0 0;font-size:17px;line-height:24px;font-weight:600",
  noScore: "margin:16px 0 0;font-size:22px;line-height:29px;font-weight:700;color:#ffffff",
  heroNote: "margin:10px 0 0;font-size:15px;line-height:22px;color:#d6ece8",
  weeks: "margin:22px 0 0;table-layout:fixed",
  weekScore: "margin:0 0 3px;font-size:14px;line-height:16px;color:#bfe3dc",
  weekScoreNow: "margin:0 0 3px;font-size:14px;line-height:16px;font-weight:700;color:#ffffff",
  weekDay: "padding:5px 0 0;font-size:14px;line-height:20px;color:#bfe3dc",
  readings: `background-color:#ffffff;border-radius:18px;padding:26px 32px 28px;font-size:16px;line-height:24px;color:#17252d;${BREAK};${FONT}`,
  panel: `background-color:#ffffff;border-radius:18px;padding:26px 32px 28px;color:#17252d;${FONT}`,
  card: `background-color:#ffffff;border-radius:18px;padding:22px 32px 24px;color:#17252d;${FONT}`,
  cardLine: `background-color:#ffffff;border-radius:18px;padding:14px 32px;color:#17252d;${FONT}`,
  gap: "line-height:10px;font-size:0;mso-line-height-rule:exactly",
  section: `padding:22px 32px 10px;${FONT}`,
  h2: "margin:0;font-size:20px;line-height:26px;font-weight:700;color:#17252d",
  highlightName: "margin:16px 0 0;font-size:14px;line-height:20px;font-weight:700",
  highlight: "margin:1px 0 0;font-size:18px;line-height:26px;font-weight:600;color:#17252d",
  readingName: "margin:18px 0 2px;font-size:14px;line-height:20px;font-weight:700;color:#0b645e",
  text: "margin:10px 0 0;color:#17252d",
  readingItem: "margin:0 0 6px;color:#17252d",
  note: `margin:8px 0 0;font-size:14px;line-height:21px;color:#51606b;${BREAK}`,
  cardName: "margin:0;font-size:18px;line-height:24px;font-weight:700;color:#17252d",
  lineNote: "margin:0;font-size:14px;line-height:21px;color:#51606b",
  pill: "display:inline-block;padding:3px 10px;border-radius:13px;font-size:14px;line-height:20px;font-weight:600;white-space:nowrap",
  main: "margin:14px 0 0;table-layout:fixed",
  mainCell: "padding:0 6px 0 0;font-size:14px;line-height:19px",
  mainValue:
    "margin:0;line-height:32px;font-weight:700;letter-spacing:-0.5px;color:#17252d;overflow-wrap:anywhere",
  mainLabel: `margin:0;color:#51606b;${BREAK}`,
  mainChange: "margin:3px 0 0;font-weight:600",
  small: "margin:16px 0 0",
  smallLabel: `padding:5px 8px 5px 0;font-size:14px;line-height:19px;font-weight:400;color:#51606b;text-align:left;${BREAK}`,
  smallValue:
    "padding:5px 0;font-size:14px;line-height:19px;font-weight:600;color:#17252d;text-align:right;overflow-wrap:anywhere",
  smallChange: "padding:5px 0 5px 8px;font-size:14px;line-height:19px;text-align:right",
  stepNumber: `border-radius:14px;background-color:${GROUNDS.number};font-size:14px;line-height:28px;font-weight:700;color:#0b5a55;text-align:center`,
  stepLabel: `padding:2px 0 12px 12px;font-size:16px;line-height:24px;color:#17252d;${BREAK}`,
  link: "color:#0b645e;text-decoration:underline",
  footer: `padding:22px 32px 28px;font-size:14px;line-height:21px;text-align:left;${BREAK};${FONT}`,
  footerNote: "margin:0 0 8px;color:#55636d",
  footerLink: "margin:0;color:#55636d",
  unsubscribe: "display:block;padding:12px 0;color:#55636d;text-decoration:underline",
} as const;

/** The two buttons; the cell holds the ground and, for Outlook alone, the padding. */
export const BUTTON_STYLE = {
  head: {
    ground: "#ffffff",
    cell: "background-color:#ffffff;border-radius:12px;mso-padding-alt:14px 28px",
    link: "display:block;padding:14px 28px;font-size:16px;line-height:22px;font-weight:700;color:#0b4f4b;text-decoration:none;text-align:center",
  },
  end: {
    ground: "#0b6b65",
    cell: "background-color:#0b6b65;border-radius:12px;mso-padding-alt:14px 28px",
    link: "display:block;padding:14px 28px;font-size:16px;line-height:22px;font-weight:700;color:#ffffff;text-decoration:none;text-align:center",
  },
} as const;

/** The pill of a channel that lacks data; each has a class for the dark scheme. */
export const PILL_STYLE = {
  complete: `${STYLE.pill};background-color:#daf2e5;color:#0c5636`,
  partial: `${STYLE.pill};background-color:#fdeccd;color:#704404`,
  unavailable: `${STYLE.pill};background-color:#e8edf0;color:#46545e`,
} as const;

/** For Outlook's engine, which is Word's: real pixels, a font it has, and line heights as they are written. */
export const OUTLOOK_HEAD = html`<!--[if mso]>
<xml><o:OfficeDocumentSettings><o:PixelsPerInch>96</o:PixelsPerInch></o:OfficeDocumentSettings></xml>
<style>
body,table,td,th,p,a,span,h1,h2,h3{font-family:'Segoe UI',Arial,sans-serif!important;mso-line-height-rule:exactly}
table{border-collapse:collapse;mso-table-lspace:0pt;mso-table-rspace:0pt}
</style>
<![endif]-->`;

/**
 * The head's style sheets: one column below 480 px, the dark scheme, and Outlook's own dark scheme, which is reached
 * through `data-ogsc`.
 *
 * Shape: a client that drops them shows the inline styles, which are complete. Three sheets, because Gmail drops a whole
 *        one over what it does not know: phones have theirs whatever becomes of the colours.
 */
export const STYLE_SHEET: Html = html`<style>
@media (max-width:479px){
.gutter{padding:8px 8px 0!important}
.hero{padding:24px 16px 22px!important}
.panel{padding:22px 16px 24px!important}
.card-line{padding:12px 16px!important}
.section{padding:18px 16px 8px!important}
.footer{padding:20px 16px 24px!important}
.button{width:100%!important}
}
</style>
<style>
:root{color-scheme:light dark;supported-color-schemes:light dark}
@media (prefers-color-scheme:dark){
.page{background-color:#0c1418!important}
.panel,.card-line{background-color:#162127!important;color:#e6edf1!important}
.ink{color:#e6edf1!important}
.muted{color:#a9b8c2!important}
.accent{color:#7fd8c8!important}
.good{color:#86e0ae!important}
.bad{color:#ffb48c!important}
.pill-partial{background-color:#4a3610!important;color:#f8d691!important}
.pill-unavailable{background-color:#2b3941!important;color:#c3d0d8!important}
.number{background-color:#17423f!important;color:#a4e6da!important}
}
</style>
<style>
[data-ogsc] .ink{color:#e6edf1!important}
[data-ogsc] .muted{color:#a9b8c2!important}
[data-ogsc] .accent{color:#7fd8c8!important}
[data-ogsc] .good{color:#86e0ae!important}
[data-ogsc] .bad{color:#ffb48c!important}
[data-ogsb] .page{background-color:#0c1418!important}
[data-ogsb] .panel,[data-ogsb] .card-line{background-color:#162127!important}
</style>`;
